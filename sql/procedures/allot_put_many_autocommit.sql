-- allot_put_many in its own transaction, separate for the reason given in allot_reserve_key_autocommit.
DROP PROCEDURE IF EXISTS /*!80000 allot_put_many_autocommit */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_put_many_autocommit(
  IN p_tasks LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_made LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
{in_own_transaction CALL allot_put_many(p_tasks, p_made)}
