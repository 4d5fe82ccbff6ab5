-- Extends a named lock by its TTL from now. Fails unless the token is the current one of the lock.
{procedure allot_lock_renew}(
  IN p_name LONGBLOB,
  IN p_token BIGINT UNSIGNED
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: renews a named lock'
BEGIN
  CALL allot_lock_name(p_name, 'renewed');
  UPDATE named_lock
     SET state = 'EXTENDED', expire_at = UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND
   WHERE name = p_name AND slot = p_token & 1023 AND epoch = p_token AND state <> 'FREE';
  CALL allot_lock_current(p_name, p_token);
END;
