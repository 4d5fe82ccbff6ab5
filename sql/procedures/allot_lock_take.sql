-- Takes a free slot of a named lock, unless other clients wait for it; p_token is NULL if none is
-- taken. See docs/locks.md. With the option "wait" it tries for this duration, ten times a second,
-- and watches the holder in between (allot_lock_watch).
-- Rule: S40.
{procedure allot_lock_take}(
  IN p_name LONGBLOB,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_token BIGINT UNSIGNED
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: takes a named lock'
BEGIN
  DECLARE v_wanted, v_slots, v_slot INT;
  DECLARE v_ttl_us, v_wait_us BIGINT;
  DECLARE v_tries, v_slept BIGINT DEFAULT 0;
  DECLARE v_epoch BIGINT UNSIGNED;
  DECLARE v_expire_at DATETIME(6);
  CALL allot_lock_name(p_name, 'taken');
  CALL allot_lock_options(p_options, v_wanted, v_ttl_us, v_wait_us);
  SET v_slots = (SELECT slots FROM named_lock WHERE name = p_name AND slot = 0);
  IF v_slots IS NULL THEN
    BEGIN
      DECLARE CONTINUE HANDLER FOR 1062 BEGIN END;     -- another client has just made it
      INSERT INTO named_lock (name, slot, slots, epoch, state, expire_at, ttl_us, taken_at)
      SELECT p_name, slot, COALESCE(v_wanted, 1), slot, 'FREE', UTC_TIMESTAMP(6), 0, UTC_TIMESTAMP(6)
        FROM {slot_numbers}
       WHERE slot < COALESCE(v_wanted, 1)
       ORDER BY slot;
    END;
    SET v_slots = (SELECT slots FROM named_lock WHERE name = p_name AND slot = 0);
  END IF;
  IF v_wanted <> v_slots THEN
    CALL allot_refuse(CONCAT('slots ', v_wanted, ': the lock has ', v_slots,
                             '; ''allot lock resize'' changes that for all its users'));
  END IF;
  CALL allot_lock_try(p_name, v_ttl_us, p_token);
  WHILE p_token IS NULL AND v_tries * 100000 < v_wait_us DO
    CALL allot_lock_watch(p_name, v_slot, v_epoch, v_expire_at, v_slept);
    SET v_tries = v_tries + 1;
    CALL allot_lock_try(p_name, v_ttl_us, p_token);
  END WHILE;
END;
