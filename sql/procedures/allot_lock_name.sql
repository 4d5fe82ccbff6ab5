-- Refuses an invalid lock name, and a call in an open transaction (S41): a rollback would release a
-- lock that the caller believes to hold, and the row would be locked as long as the transaction
-- lasts. With autocommit off a transaction is always open.
{procedure allot_lock_name}(
  IN p_name LONGBLOB,
  IN p_verb VARCHAR(31) CHARACTER SET utf8mb4
)
{internal CONTAINS SQL}
BEGIN
  DECLARE v_open BOOLEAN;
  IF p_name IS NULL OR LENGTH(p_name) NOT BETWEEN 1 AND 255 THEN
    CALL allot_refuse(CONCAT('name of ', COALESCE(LENGTH(p_name), 'no'),
                             ' bytes: 1 to 255 are allowed'));
  END IF;
  CALL allot_transaction(v_open);
  IF v_open THEN
    CALL allot_refuse(CONCAT('a transaction is open, or autocommit is off: a lock is ', p_verb,
                             ' only outside of transactions'));
  END IF;
END;
