-- FOR UPDATE: waits for a commit that was under way when its connection was ended, and still
-- happens.
SELECT epoch
  FROM q_lock_table
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND lock_by = :holder AND state <> 'FREE'
   FOR UPDATE;
