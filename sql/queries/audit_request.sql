-- Part of write_audit.sql: an existing request to cancel, after request_cancel.sql.
SELECT (SELECT name FROM queue WHERE queue.queue_id = :queue_id) AS of_queue, NULL AS into_queue,
       1 AS how_many
  FROM task_cancel
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key AND as_done = :as_done
