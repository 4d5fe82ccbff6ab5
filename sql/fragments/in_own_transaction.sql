-- The body of a procedure that runs {arg}, a CALL, in a transaction of its own, and again after a
-- deadlock.
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
      -- The deadlock rolled the transaction back, which contained nothing of the caller. MariaDB
      -- since 11.6.2 also rolls back if a row to lock is newer than the transaction's view (1020).
      DECLARE EXIT HANDLER FOR 1213, 1020
      BEGIN
        SET v_tries = v_tries + 1;
        IF v_tries = 8 THEN RESIGNAL; END IF;
      END;
      START TRANSACTION;
      {arg};
      COMMIT AND NO CHAIN NO RELEASE;
      SET v_done = TRUE;
    END;
  END WHILE;
END;
