UPDATE lock_ticket SET expire_at = UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND
 WHERE lock_by = :holder;
