-- Part of write_audit.sql: the tasks that move.sql will move, with its fence.
SELECT (SELECT name FROM queue WHERE queue.queue_id = :queue_id) AS of_queue,
       (SELECT name FROM queue WHERE queue.queue_id = :to_queue_id) AS into_queue,
       COUNT(*) AS how_many
  FROM task FORCE INDEX (PRIMARY)
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
HAVING COUNT(*) > 0
   FOR UPDATE
