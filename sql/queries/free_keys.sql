-- Which of these keys a task has, and since when the others are free: a tick that waited for one is
-- late only from then on. The last column: it is taken for longer than its time (bound_unique.sql).
SELECT unique_key, free_at IS NULL OR free_at > UTC_TIMESTAMP(6),
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', free_at),
       COALESCE(free_at > UTC_TIMESTAMP(6) + INTERVAL keep_us MICROSECOND, 0)
  FROM task_unique FORCE INDEX (PRIMARY)
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys);
