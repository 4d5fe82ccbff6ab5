SELECT slot, slots, state, epoch, lock_host, lock_pid, ttl_us,
       TIMESTAMPDIFF(MICROSECOND, taken_at, UTC_TIMESTAMP(6)),
       TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)
  FROM named_lock WHERE name = :name ORDER BY slot;
SELECT ticket, lock_host, lock_pid,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, drawn_at, UTC_TIMESTAMP(6))),
       expire_at > UTC_TIMESTAMP(6)
         AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND
  FROM lock_ticket WHERE name = :name ORDER BY ticket;
