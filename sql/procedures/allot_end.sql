-- allot_cancel, and with p_as_done allot_cancel_as_done.
DROP PROCEDURE IF EXISTS /*!80000 allot_end */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_end(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_as_done BOOLEAN,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE v_transaction BOOLEAN;
  DECLARE v_queue_id, v_place, v_first_key BIGINT UNSIGNED;
  IF LENGTH(p_reason) > 65535 THEN
    CALL allot_refuse(CONCAT('reason of ', LENGTH(p_reason), ' bytes: the limit is 65535'));
  END IF;
  CALL allot_read_id(p_id, v_queue_id, v_place, v_first_key);
  CALL allot_transaction(v_transaction);
  IF v_transaction THEN
    CALL allot_take_out(v_queue_id, v_place DIV 4, v_place % 4, v_first_key,
                        COALESCE(p_reason, ''), p_as_done, p_result);
  ELSE
    CALL allot_take_out_autocommit(v_queue_id, v_place DIV 4, v_place % 4, v_first_key,
                              COALESCE(p_reason, ''), p_as_done, p_result);
  END IF;
END;
