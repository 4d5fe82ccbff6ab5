-- Tasks that have the keys, and which of them have finished. Locks them, because under REPEATABLE
-- READ, which the caller's transaction may have, an older transaction would not see newer ones.
SELECT unique_key, partition_no, prio, first_key, reservation, free_at IS NOT NULL
  FROM task_unique FORCE INDEX (PRIMARY)
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys)
 LIMIT 18446744073709551615
  LOCK IN SHARE MODE;
