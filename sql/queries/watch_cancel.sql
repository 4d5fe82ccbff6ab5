-- A task has run in its partition for a second: from now on its worker looks for requests to cancel
-- it, and a cancel makes one. No match: the lease is gone, or somebody took the task out.
UPDATE task
   SET flags = flags | :cancel_watched_flag
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
