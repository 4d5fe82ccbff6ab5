-- Removes a schedule with the record of its ticks, in the caller's transaction if there is one; its
-- tasks stay. p_result: 'removed', or NULL: no such schedule.
{procedure allot_schedule_remove}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: removes a schedule'
BEGIN
  DECLARE v_paused, v_transaction BOOLEAN;
  SET p_result = NULL;
  -- The comparison pads, so another name may be equal.
  IF (SELECT COUNT(*) FROM schedule WHERE name = p_name AND LENGTH(name) = LENGTH(p_name)
        LOCK IN SHARE MODE) = 1 THEN
    {in_a_transaction allot_change_schedule ('remove_schedule', p_name, NULL, v_paused)};
    SET p_result = 'removed';
  END IF;
END;
