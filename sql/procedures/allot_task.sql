-- State of a task by its public id: 'waiting' (also while a worker runs it in its block), 'running'
-- (detached), 'dead', or NULL: the task has finished, or never existed.
{procedure allot_task}(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_state VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: where a task is'
BEGIN
  DECLARE v_queue_id, v_place, v_first_key BIGINT UNSIGNED;
  CALL allot_read_id(p_id, v_queue_id, v_place, v_first_key);
  -- SELECT, because subqueries of SET lock what they read until the caller's transaction ends.
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM task
                  WHERE queue_id = v_queue_id AND partition_no = v_place DIV 4
                    AND prio = v_place % 4
                    AND run_key = COALESCE(
                          (SELECT moved.run_key FROM task_moved AS moved
                            WHERE moved.queue_id = v_queue_id
                              AND moved.partition_no = v_place DIV 4
                              AND moved.prio = v_place % 4 AND moved.first_key = v_first_key),
                          v_first_key)
                    AND COALESCE(first_key, run_key) = v_first_key) THEN 'waiting'
    WHEN EXISTS (SELECT 1 FROM task_running
                  WHERE queue_id = v_queue_id AND partition_no = v_place DIV 4
                    AND prio = v_place % 4 AND first_key = v_first_key) THEN 'running'
    WHEN EXISTS (SELECT 1 FROM task_dead
                  WHERE queue_id = v_queue_id AND partition_no = v_place DIV 4
                    AND prio = v_place % 4 AND first_key = v_first_key) THEN 'dead'
  END INTO p_state;
END;
