-- Takes a place in the line for a lock, once however often it is sent. Removes long-dead tickets.
DELETE FROM lock_ticket
 WHERE name = :name
   AND (expire_at < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE
        OR expire_at > UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND + INTERVAL 1 MINUTE);
INSERT INTO lock_ticket (name, lock_by, lock_host, lock_pid, expire_at, ttl_us, drawn_at)
VALUES (:name, :holder, :host, :pid, UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND, :ttl_us,
        UTC_TIMESTAMP(6))
    ON DUPLICATE KEY UPDATE expire_at = VALUES(expire_at);
SELECT ticket FROM lock_ticket WHERE lock_by = :holder;
