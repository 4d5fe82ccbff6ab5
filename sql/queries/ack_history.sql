-- Only for tasks that were tried before: what was kept for their id goes with them.
-- :first_keys as in ack.sql.
DELETE FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (:first_keys);
DELETE FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (:first_keys);
