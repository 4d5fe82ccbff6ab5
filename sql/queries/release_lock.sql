-- A release ends the epoch (S1): a renewal after it finds nothing.
UPDATE named_lock
   SET state = 'FREE', epoch = epoch + 1024, expire_at = UTC_TIMESTAMP(6),
       lock_by = NULL, lock_host = NULL, lock_pid = NULL
 WHERE name = :name AND slot = :slot
   AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE';
