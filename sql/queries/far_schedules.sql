-- Schedules whose next tick is further ahead than :tolerance_us, for the check of next_run (S57),
-- page by page. Payloads are not read.
SELECT schedule_id, version, name, expression, zone, jitter_us,
       {unix next_run},
       {unix UTC_TIMESTAMP(6)}
  FROM schedule FORCE INDEX (PRIMARY)
 WHERE schedule_id > :after
   AND due_at > UTC_TIMESTAMP(6) + INTERVAL :tolerance_us MICROSECOND
   AND paused_at IS NULL
 ORDER BY schedule_id
 LIMIT :limit;
