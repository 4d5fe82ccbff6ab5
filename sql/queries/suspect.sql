-- A worker died with several tasks in their handlers, and nobody knows which was at fault: none is
-- charged, and each runs alone from now on, with its attempt written before (S7). It is in one
-- transaction with the release.
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags | :suspect_flag
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
