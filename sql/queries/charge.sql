-- Careful mode, and the settler for a first crash: the attempt is written, the key stays (S7, S10).
-- An absolute number, so that a repeat after a lost reply charges nothing twice. :keep_flags are
-- those bits of the task's flags that outlast the attempt.
UPDATE task
   SET attempt = :attempt, flags = flags & :keep_flags
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND EXISTS (SELECT 1 FROM q_lock_table
                WHERE queue_id = :queue_id AND partition_no = :partition_no
                  AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE);
