-- An operator takes a slot away from its holder, as it was shown to him.
UPDATE named_lock
   SET state = 'FREE', epoch = epoch + 1024, expire_at = UTC_TIMESTAMP(6),
       lock_by = NULL, lock_host = NULL, lock_pid = NULL
 WHERE name = :name AND slot = :slot AND epoch = :epoch AND state <> 'FREE';
