-- For metrics: number of schedules overdue for that long, up to :limit, and for how many
-- microseconds the first of them is.
SELECT COUNT(*), COALESCE(MAX(late.late_us), 0)
  FROM (SELECT TIMESTAMPDIFF(MICROSECOND, due_at, UTC_TIMESTAMP(6)) AS late_us
          FROM schedule FORCE INDEX (due_at)
         WHERE due_at <= UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND AND paused_at IS NULL
         ORDER BY due_at
         LIMIT :limit) AS late;
