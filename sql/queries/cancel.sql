-- Removes a waiting task, so that it does not run again. Ignores the holder of the partition: a
-- worker that has the task in its block may still run it, and then writes nothing. The row is
-- locked first and deleted last, so that a task that just finished is not reported as dead.
INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, key_hash, type,
                       payload, cause, error, died_at, headers)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), attempt, flags, key_hash, type,
       payload, :cause, :error, UTC_TIMESTAMP(6), headers
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key
   FOR UPDATE;
DELETE FROM task_moved
 WHERE {this_id}
   AND (SELECT 1 FROM task
         WHERE {this_task}
           AND COALESCE(task.first_key, run_key) = :first_key FOR UPDATE) = 1;
DELETE FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key;
