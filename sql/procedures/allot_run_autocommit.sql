-- allot_run in its own transaction.
DROP PROCEDURE IF EXISTS /*!80000 allot_run_autocommit */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_run_autocommit(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin
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
      CALL allot_run(p_name, p_id);
      COMMIT AND NO CHAIN NO RELEASE;
      SET v_done = TRUE;
    END;
  END WHILE;
END;
