SELECT name, MAX(slots), SUM(state <> 'FREE'),
       (SELECT COUNT(*) FROM lock_ticket
         WHERE lock_ticket.name = named_lock.name AND lock_ticket.expire_at > UTC_TIMESTAMP(6)
           AND lock_ticket.expire_at <= UTC_TIMESTAMP(6) + INTERVAL lock_ticket.ttl_us MICROSECOND)
  FROM named_lock GROUP BY name ORDER BY name;
