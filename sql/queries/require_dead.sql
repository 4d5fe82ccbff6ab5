-- Second guard of a batch, for its tasks in a partition: locks them, and fails unless all of them
-- are dead since before the count. So exactly the tasks of the batch are retried or discarded, and
-- none that died again since. A death in the future counts as earlier: the clock was set back.
-- :first_keys as in ack_history.sql.
-- Rule: S49.
SELECT ~0 + (COUNT(*) <> :tasks)
  FROM task_dead FORCE INDEX (PRIMARY)
 WHERE {these_ids}
   AND (died_at <= CAST('1970-01-01' AS DATETIME(6)) + INTERVAL :until_us MICROSECOND
        OR died_at > UTC_TIMESTAMP(6))
   FOR UPDATE;
