-- Submits a task of a schedule now, in the caller's transaction if there is one, regardless of its
-- next tick, overlap and pause: like run_schedule_now() in daemon/queue/schedules/.
{procedure allot_schedule_run}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: submits a task of a schedule now'
BEGIN
  DECLARE v_transaction BOOLEAN;
  {in_a_transaction allot_run (p_name, p_id)};
END;
