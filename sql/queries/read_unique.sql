-- Whose the keys are. Locked, or a transaction that began before the others' would not see theirs under
-- REPEATABLE READ, which a caller's own may have.
SELECT unique_key, partition_no, prio, first_key, claim
  FROM task_unique
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys)
  LOCK IN SHARE MODE;
