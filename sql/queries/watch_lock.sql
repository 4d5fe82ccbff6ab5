-- The slots of a name that are held, for S4: only who saw one standing still itself frees it.
SELECT name, slot, epoch, expire_at, expire_at < UTC_TIMESTAMP(6),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)), ttl_us, lock_host, lock_pid
  FROM named_lock
 WHERE name = :name AND state <> 'FREE';
