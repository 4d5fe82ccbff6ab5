-- Calls a procedure in the caller's transaction or, without one, in its own.
CALL allot_transaction(v_transaction);
  IF v_transaction THEN
    CALL {first}{rest};
  ELSE
    CALL {first}_autocommit{rest};
  END IF
