-- Held slots of a name, for S4: only a process that has itself seen one unchanged frees it.
SELECT name, slot, epoch, expire_at, expire_at < UTC_TIMESTAMP(6),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)), ttl_us, lock_host, lock_pid
  FROM named_lock
 WHERE name = :name AND state <> 'FREE';
