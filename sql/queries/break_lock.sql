-- Takes a slot away from its holder for an operator, if it is unchanged since it was shown.
UPDATE named_lock
   SET state = 'FREE', epoch = epoch + 1024, expire_at = UTC_TIMESTAMP(6),
       lock_by = NULL, lock_host = NULL, lock_pid = NULL
 WHERE name = :name AND slot = :slot AND epoch = :epoch AND state <> 'FREE';
