-- A release ends the epoch (S1): a renewal that lands after it finds nothing. A partition of an
-- ordered queue may have to wait for its first task (S16).
UPDATE q_lock_table
   SET state = 'FREE', epoch = epoch + 1, expire_at = UTC_TIMESTAMP(6),
       hold_until = UTC_TIMESTAMP(6) + INTERVAL NULLIF(:hold_us, 0) MICROSECOND,
       lock_by = NULL, lock_origin = NULL, lock_host = NULL, lock_instance = NULL, lock_pid = NULL
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE';
