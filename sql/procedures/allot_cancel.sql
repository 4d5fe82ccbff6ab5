-- Cancels a task, in the caller's transaction if there is one. p_result: 'cancelled' (it was
-- waiting, and is dead now), 'requested' (it runs: its worker will end it), 'conflict' (it runs, and
-- an earlier request ends it as done), 'dead' (it was already dead), or NULL: the task has
-- finished, or never existed.
{procedure allot_cancel}(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: cancels a task'
BEGIN
  CALL allot_end(p_id, p_reason, FALSE, p_result);
END;
