-- Deletes keys that have been free for long, in the order in which reserve_key.sql locks them. A
-- key that was taken again since stays.
-- Rule: S46.
DELETE /*+ INDEX(task_unique PRIMARY) */ FROM task_unique
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys)
   AND free_at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND;
