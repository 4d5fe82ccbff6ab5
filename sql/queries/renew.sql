UPDATE q_lock_table
   SET state = 'EXTENDED', expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE';
