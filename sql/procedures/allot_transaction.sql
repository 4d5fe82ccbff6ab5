-- Checks whether the caller has an open transaction: without one, a savepoint is gone at once.
DROP PROCEDURE IF EXISTS /*!80000 allot_transaction */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_transaction(OUT p_open BOOLEAN)
CONTAINS SQL SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE CONTINUE HANDLER FOR 1305 SET p_open = FALSE;
  SET p_open = TRUE;
  SAVEPOINT allot_transaction;
  RELEASE SAVEPOINT allot_transaction;
END;
