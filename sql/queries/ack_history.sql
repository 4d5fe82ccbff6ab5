-- Only for tasks that were tried before: what was kept for their id goes with them.
DELETE FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (prio, first_key) IN (:first_keys);
DELETE FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (prio, first_key) IN (:first_keys);
