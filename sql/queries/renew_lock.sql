UPDATE named_lock
   SET state = 'EXTENDED', expire_at = UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND
 WHERE name = :name AND slot = :slot
   AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE';
