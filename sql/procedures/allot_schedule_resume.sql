-- Lets a paused schedule go on, in the caller's transaction if there is one. p_result: 'resumed', or
-- 'running' where it was not paused. As queries/resume_schedule.sql: paused_at comes last.
DROP PROCEDURE IF EXISTS /*!80000 allot_schedule_resume */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_schedule_resume(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: lets a paused schedule go on'
BEGIN
  DECLARE v_schedule_id INT UNSIGNED;
  DECLARE v_paused BOOLEAN;
  CALL allot_schedule(p_name, v_schedule_id, v_paused);
  UPDATE schedule
     SET version = IF(paused_at IS NULL, version,
                      GREATEST(version + 1, {now})),
         resumed_at = IF(paused_at IS NULL, resumed_at, UTC_TIMESTAMP(6)),
         pause_reason = '', paused_at = NULL
   WHERE schedule_id = v_schedule_id;
  SET p_result = IF(v_paused, 'resumed', 'running');
END;
