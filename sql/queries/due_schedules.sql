-- Schedules that are due soon, polled by the steward every five seconds: by an index, without their
-- payloads. The clock of this database decides what is due (S37).
SELECT schedule_id, version, {unix next_run},
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), due_at), COALESCE(error, ''),
       {unix UTC_TIMESTAMP(6)}
  FROM schedule FORCE INDEX (due_at)
 WHERE due_at <= UTC_TIMESTAMP(6) + INTERVAL :ahead_us MICROSECOND AND paused_at IS NULL
 ORDER BY due_at
 LIMIT :limit;
