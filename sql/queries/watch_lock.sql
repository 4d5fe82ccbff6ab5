-- The slots of a name that are held, for S4: only a process that itself saw one stand still frees it.
SELECT name, slot, epoch, expire_at, expire_at < UTC_TIMESTAMP(6),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)), ttl_us, lock_host, lock_pid
  FROM named_lock
 WHERE name = :name AND state <> 'FREE';
