-- The lease that was just taken, if any, and the cap of its queue (S51).
SELECT epoch, suspect_to, suspect_n, {unix UTC_TIMESTAMP(6)},
       (SELECT cap FROM queue WHERE queue_id = :queue_id)
  FROM q_lock_table
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND lock_by = :holder AND state <> 'FREE'
