-- Resumes a paused schedule, in the caller's transaction if there is one. p_result: 'resumed', or
-- 'running' if it was not paused. Like queries/resume_schedule.sql.
{procedure allot_schedule_resume}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: resumes a paused schedule'
BEGIN
  DECLARE v_paused, v_transaction BOOLEAN;
  {in_a_transaction allot_change_schedule ('resume_schedule', p_name, NULL, v_paused)};
  SET p_result = IF(v_paused, 'resumed', 'running');
END;
