-- allot_put_many in its own transaction, separate for the reason given in allot_reserve_key_autocommit.
{procedure allot_put_many_autocommit}(
  IN p_tasks LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_made LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
{internal MODIFIES SQL DATA}
{in_own_transaction CALL allot_put_many(p_tasks, p_made)}
