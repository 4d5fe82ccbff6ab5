-- Checks whether the caller has an open transaction: without one, a savepoint is gone at once.
{procedure allot_transaction}(OUT p_open BOOLEAN)
{internal CONTAINS SQL}
BEGIN
  DECLARE CONTINUE HANDLER FOR 1305 SET p_open = FALSE;
  SET p_open = TRUE;
  SAVEPOINT allot_transaction;
  RELEASE SAVEPOINT allot_transaction;
END;
