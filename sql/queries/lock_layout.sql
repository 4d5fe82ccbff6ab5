-- Layouts that place the tasks of these queues until the transaction ends: see placed_queue.sql. A
-- locking read, because the transaction's view may be older.
SELECT {queue_columns}
  FROM queue
 WHERE queue_id IN (:queue_ids)
 ORDER BY queue_id
 LIMIT 18446744073709551615
  LOCK IN SHARE MODE;
