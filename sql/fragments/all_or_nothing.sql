-- Undoes the statements of a procedure if one of them fails, by a savepoint with this name.
DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    -- A deadlock has removed the transaction and the savepoint with it.
    DECLARE CONTINUE HANDLER FOR 1305 BEGIN END;
    ROLLBACK TO SAVEPOINT {arg};
    RESIGNAL;
  END;
  SAVEPOINT {arg}
