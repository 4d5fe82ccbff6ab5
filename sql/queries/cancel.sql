-- A waiting task that shall not run any more. Whose lease its partition is in is not asked: who has
-- it in his block may run it all the same, and then writes nothing. Its row is locked first and
-- deleted last, so that one that just finished is not said to be dead.
INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, key_hash, type,
                       payload, cause, error, died_at)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), attempt, flags, key_hash, type,
       payload, :cause, :error, UTC_TIMESTAMP(6)
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND COALESCE(first_key, run_key) = :first_key
   FOR UPDATE;
DELETE FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND EXISTS (SELECT 1 FROM task
                WHERE queue_id = :queue_id AND partition_no = :partition_no
                  AND prio = :prio AND run_key = :run_key
                  AND COALESCE(task.first_key, run_key) = :first_key FOR UPDATE);
DELETE FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND COALESCE(first_key, run_key) = :first_key;
