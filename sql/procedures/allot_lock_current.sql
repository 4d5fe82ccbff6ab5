-- Fails unless the token is the current one of the lock.
{procedure allot_lock_current}(
  IN p_name LONGBLOB,
  IN p_token BIGINT UNSIGNED
)
{internal READS SQL DATA}
BEGIN
  DECLARE v_held INT;
  SET v_held = (SELECT COUNT(*) FROM named_lock
                 WHERE name = p_name AND slot = p_token & 1023 AND epoch = p_token
                   AND state <> 'FREE');
  IF COALESCE(v_held, 0) = 0 THEN
    CALL allot_refuse(CONCAT('token ', COALESCE(p_token, 'NULL'), ': it does not belong to the lock''s holder'));
  END IF;
END;
