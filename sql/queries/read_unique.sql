-- Whose the keys are.
SELECT unique_key, partition_no, prio, first_key, claim
  FROM task_unique
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys);
