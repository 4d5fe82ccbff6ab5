-- The other guard of a batch, for its tasks in a partition: locks them, and fails unless all of them are
-- dead, since before the count. So as many are retried or discarded as the batch says, and none that
-- died again meanwhile. A death in the future is one of before: the clock was set back. :first_keys as
-- in ack_history.sql.
SELECT ~0 + (COUNT(*) <> :tasks)
  FROM task_dead FORCE INDEX (PRIMARY)
 WHERE {these_ids}
   AND (died_at <= CAST('1970-01-01' AS DATETIME(6)) + INTERVAL :until_us MICROSECOND
        OR died_at > UTC_TIMESTAMP(6))
   FOR UPDATE;
