-- Fails unless the token is the current one of the lock.
DROP PROCEDURE IF EXISTS /*!80000 allot_lock_current */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_lock_current(
  IN p_name LONGBLOB,
  IN p_token BIGINT UNSIGNED
)
READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE v_held INT;
  SET v_held = (SELECT COUNT(*) FROM named_lock
                 WHERE name = p_name AND slot = p_token & 1023 AND epoch = p_token
                   AND state <> 'FREE');
  IF COALESCE(v_held, 0) = 0 THEN
    CALL allot_refuse(CONCAT('token ', COALESCE(p_token, 'NULL'), ': it does not belong to the lock''s holder'));
  END IF;
END;
