-- Pauses a schedule, in the caller's transaction if there is one. p_result: 'paused', or 'already'
-- if only the reason changed. Like queries/pause_schedule.sql.
{procedure allot_schedule_pause}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: pauses a schedule'
BEGIN
  DECLARE v_paused, v_transaction BOOLEAN;
  IF CHAR_LENGTH(p_reason) > 255 THEN
    CALL allot_refuse(CONCAT('reason of ', CHAR_LENGTH(p_reason), ' characters: the limit is 255'));
  END IF;
  {in_a_transaction allot_change_schedule ('pause_schedule', p_name, p_reason, v_paused)};
  SET p_result = IF(v_paused, 'already', 'paused');
END;
