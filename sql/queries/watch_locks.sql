-- Like watch_lock.sql, for all names.
SELECT name, slot, epoch, expire_at, expire_at < UTC_TIMESTAMP(6),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)), ttl_us, lock_host, lock_pid
  FROM named_lock
 WHERE lock_by > 0;
