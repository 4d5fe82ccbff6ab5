-- Releases a named lock. Fails unless the token is the current one of the lock.
{procedure allot_lock_release}(
  IN p_name LONGBLOB,
  IN p_token BIGINT UNSIGNED
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: releases a named lock'
BEGIN
  CALL allot_lock_name(p_name, 'released');
  CALL allot_lock_current(p_name, p_token);
  UPDATE named_lock
     SET state = 'FREE', epoch = epoch + 1024, expire_at = UTC_TIMESTAMP(6),
         lock_by = NULL, lock_host = NULL, lock_pid = NULL
   WHERE name = p_name AND slot = p_token & 1023 AND epoch = p_token AND state <> 'FREE';
END;
