-- allot_change_schedule in its own transaction.
DROP PROCEDURE IF EXISTS /*!80000 allot_change_schedule_autocommit */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_change_schedule_autocommit(
  IN p_action VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_paused BOOLEAN
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE v_tries INT DEFAULT 0;
  DECLARE v_done BOOLEAN DEFAULT FALSE;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK AND NO CHAIN NO RELEASE;
    RESIGNAL;
  END;
  WHILE NOT v_done DO
    BEGIN
      -- As in allot_reserve_key_autocommit.
      DECLARE EXIT HANDLER FOR 1213, 1020
      BEGIN
        SET v_tries = v_tries + 1;
        IF v_tries = 8 THEN RESIGNAL; END IF;
      END;
      START TRANSACTION;
      CALL allot_change_schedule(p_action, p_name, p_reason, p_paused);
      COMMIT AND NO CHAIN NO RELEASE;
      SET v_done = TRUE;
    END;
  END WHILE;
END;
