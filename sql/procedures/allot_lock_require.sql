-- Fence for data that a lock protects: call it as the last statement of a transaction before its
-- end. Locks the lock's row until then, so that no other client gets the lock before these writes
-- are visible. Fails unless the token is the current one of the lock and has not expired.
{procedure allot_lock_require}(
  IN p_name LONGBLOB,
  IN p_token BIGINT UNSIGNED
)
READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: the fence of a named lock'
BEGIN
  DECLARE v_open BOOLEAN;
  DECLARE v_held INT DEFAULT 0;
  CALL allot_transaction(v_open);
  IF NOT v_open THEN
    CALL allot_refuse('no transaction is open: the fence holds until the end of one');
  END IF;
  BEGIN
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_held = 0;
    SELECT epoch = p_token AND state <> 'FREE' AND expire_at > UTC_TIMESTAMP(6) INTO v_held
      FROM named_lock WHERE name = p_name AND slot = p_token & 1023 FOR UPDATE;
  END;
  IF NOT COALESCE(v_held, FALSE) THEN
    CALL allot_refuse(CONCAT('token ', COALESCE(p_token, 'NULL'),
                             ': it does not belong to the lock''s holder, or has expired'));
  END IF;
END;
