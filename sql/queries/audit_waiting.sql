-- Part of write_audit.sql: a waiting task, as cancel.sql finds it.
SELECT (SELECT name FROM queue WHERE queue.queue_id = :queue_id) AS of_queue, NULL AS into_queue,
       1 AS how_many
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND COALESCE(first_key, run_key) = :first_key
   FOR UPDATE
