-- Lets a schedule make no tasks, in the caller's transaction if there is one. p_result: 'paused', or
-- 'already' where only the reason changed. As queries/pause_schedule.sql.
DROP PROCEDURE IF EXISTS /*!80000 allot_schedule_pause */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_schedule_pause(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: pauses a schedule'
BEGIN
  DECLARE v_schedule_id INT UNSIGNED;
  DECLARE v_paused BOOLEAN;
  IF CHAR_LENGTH(p_reason) > 255 THEN
    CALL allot_refuse(CONCAT('reason of ', CHAR_LENGTH(p_reason), ' characters: the most is 255'));
  END IF;
  CALL allot_schedule(p_name, v_schedule_id, v_paused);
  UPDATE schedule
     SET version = IF(paused_at IS NULL,
                      GREATEST(version + 1, {now}),
                      version),
         paused_at = COALESCE(paused_at, UTC_TIMESTAMP(6)), pause_reason = COALESCE(p_reason, '')
   WHERE schedule_id = v_schedule_id;
  SET p_result = IF(v_paused, 'already', 'paused');
END;
