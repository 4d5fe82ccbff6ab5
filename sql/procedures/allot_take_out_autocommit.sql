-- allot_take_out in its own transaction, separate for the reason given in allot_reserve_key_autocommit.
DROP PROCEDURE IF EXISTS /*!80000 allot_take_out_autocommit */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_take_out_autocommit(
  IN p_queue_id INT UNSIGNED,
  IN p_partition_no SMALLINT UNSIGNED,
  IN p_prio TINYINT UNSIGNED,
  IN p_first_key BIGINT UNSIGNED,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_as_done BOOLEAN,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
{in_own_transaction CALL allot_take_out(p_queue_id, p_partition_no, p_prio, p_first_key, p_reason,
    p_as_done, p_result)}
