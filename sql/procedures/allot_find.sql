-- The task of a queue that has a unique key, or had it while the key is still reserved: its public
-- id and its state, 'waiting' (also while a worker runs it in its block), 'running' (detached),
-- 'dead', or 'done'. Both are NULL if the key is free. One statement, like queries/find_unique.sql,
-- so that the task is seen in one place.
{procedure allot_find}(
  IN p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_unique_key LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin,
  OUT p_state VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: which task has a unique key'
BEGIN
  DECLARE v_queue_id, v_place INT UNSIGNED;
  DECLARE v_first_key BIGINT UNSIGNED;
  DECLARE v_state VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SET p_id = NULL, p_state = NULL;
  IF p_unique_key IS NULL OR LENGTH(p_unique_key) NOT BETWEEN 1 AND 255 THEN
    CALL allot_refuse('unique_key: 1 to 255 bytes are allowed');
  END IF;
  SELECT queue_id
    INTO v_queue_id
    FROM queue WHERE name = p_queue AND LENGTH(name) = LENGTH(p_queue);  -- padding would match
  IF v_queue_id IS NULL THEN
    CALL allot_refuse(CONCAT('queue ', COALESCE(QUOTE(LEFT(p_queue, 63)), 'NULL'),
                             ': unknown queue'));
  END IF;
  SELECT owner.partition_no * 4 + owner.prio, owner.first_key,
         CASE
           WHEN EXISTS (SELECT 1 FROM task
                         WHERE task.queue_id = owner.queue_id
                           AND task.partition_no = owner.partition_no AND task.prio = owner.prio
                           AND task.run_key = COALESCE(
                                 (SELECT moved.run_key FROM task_moved AS moved
                                   WHERE moved.queue_id = owner.queue_id
                                     AND moved.partition_no = owner.partition_no
                                     AND moved.prio = owner.prio
                                     AND moved.first_key = owner.first_key),
                                 owner.first_key)
                           AND COALESCE(task.first_key, task.run_key) = owner.first_key)
           THEN 'waiting'
           WHEN EXISTS (SELECT 1 FROM task_running
                         WHERE task_running.queue_id = owner.queue_id
                           AND task_running.partition_no = owner.partition_no
                           AND task_running.prio = owner.prio
                           AND task_running.first_key = owner.first_key) THEN 'running'
           WHEN EXISTS (SELECT 1 FROM task_dead
                         WHERE task_dead.queue_id = owner.queue_id
                           AND task_dead.partition_no = owner.partition_no
                           AND task_dead.prio = owner.prio
                           AND task_dead.first_key = owner.first_key) THEN 'dead'
           ELSE 'done'
         END
    INTO v_place, v_first_key, v_state
    FROM task_unique AS owner
   WHERE owner.queue_id = v_queue_id AND owner.unique_key = CAST(p_unique_key AS BINARY)
     AND (owner.free_at IS NULL OR owner.free_at > UTC_TIMESTAMP(6));
  IF v_state IS NOT NULL THEN
    CALL allot_id(v_queue_id, v_place, v_first_key, p_id);
    SET p_state = v_state;
  END IF;
END;
