-- Ends a task as if it had succeeded, in the caller's transaction if there is one. p_result: 'done'
-- (it was waiting, and has finished now), 'requested' (it runs: its worker will end it), 'conflict'
-- (it runs, and an earlier request ends it as cancelled), 'dead' (it is dead, and stays so), or
-- NULL: the task has finished, or never existed.
{procedure allot_cancel_as_done}(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: ends a task as if it had succeeded'
BEGIN
  CALL allot_end(p_id, p_reason, TRUE, p_result);
END;
