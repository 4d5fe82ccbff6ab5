-- The values that decide where dead tasks of a partition go. :first_keys as in ack_history.sql.
SELECT prio, first_key, key_hash
  FROM task_dead
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:first_keys);
