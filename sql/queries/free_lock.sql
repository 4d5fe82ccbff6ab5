-- Frees a slot whose holder is silent (S38), if it is unchanged. Skips a slot whose row is locked,
-- see README.md: its holder may be about to commit under the lock. S48 as in take_lock.sql.
UPDATE named_lock
   SET state = 'FREE', epoch = epoch + 1024, expire_at = UTC_TIMESTAMP(6),
       lock_by = NULL, lock_host = NULL, lock_pid = NULL
 WHERE name = :name AND slot = :slot AND state <> 'FREE'
   AND epoch = :seen_epoch AND expire_at = :seen_expire_at
   AND (:stale OR expire_at < UTC_TIMESTAMP(6))
   AND (SELECT since FROM server_identity WHERE only_row = 1)
       <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + ttl_us MICROSECOND
   AND (0 OR EXISTS (SELECT 1 FROM (SELECT 1 FROM named_lock
                                     WHERE name = :name AND slot = :slot
                                     LIMIT 1 FOR UPDATE NOWAIT) AS unlocked));
