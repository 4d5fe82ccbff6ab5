-- Part of write_audit.sql: a dead task. Locks its row, so that it still exists when the action
-- runs.
SELECT (SELECT name FROM queue WHERE queue.queue_id = :queue_id) AS of_queue, NULL AS into_queue,
       1 AS how_many
  FROM task_dead
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   FOR UPDATE
