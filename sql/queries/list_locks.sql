SELECT held_lock.name, held_lock.slots, held_lock.held, COALESCE(line.waiting, 0)
  FROM (SELECT name, MAX(slots) AS slots, SUM(state <> 'FREE') AS held
          FROM named_lock GROUP BY name) AS held_lock
  LEFT JOIN (SELECT name, COUNT(*) AS waiting FROM lock_ticket
              WHERE expire_at > UTC_TIMESTAMP(6)
                AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND
              GROUP BY name) AS line ON line.name = held_lock.name
 ORDER BY held_lock.name;
