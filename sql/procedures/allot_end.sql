-- allot_cancel, and with p_as_done allot_cancel_as_done.
{procedure allot_end}(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_as_done BOOLEAN,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_transaction BOOLEAN;
  DECLARE v_queue_id, v_place, v_first_key BIGINT UNSIGNED;
  IF LENGTH(p_reason) > 65535 THEN
    CALL allot_refuse(CONCAT('reason of ', LENGTH(p_reason), ' bytes: the limit is 65535'));
  END IF;
  CALL allot_read_id(p_id, v_queue_id, v_place, v_first_key);
  {in_a_transaction allot_take_out (v_queue_id, v_place DIV 4, v_place % 4, v_first_key,
                        COALESCE(p_reason, ''), p_as_done, p_result)};
END;
