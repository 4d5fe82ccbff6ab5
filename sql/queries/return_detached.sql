-- Puts a detached task back where it was: after its first crash, or after an interruption.
INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, attempt, flags, type, payload,
                  headers)
SELECT queue_id, partition_no, prio, run_key, NULLIF(first_key, run_key), :attempt,
       flags & :keep_flags, type, payload, headers
  FROM task_running
 WHERE {my_detached}
   FOR UPDATE;
DELETE FROM task_running
 WHERE {my_detached};
