-- allot_cancel inside a transaction. Does not lock a running task, because its lease must be
-- renewed while the caller's transaction is open; decides by what the transaction sees. If the task
-- just came back, its next worker reads the stored request before it starts the task. A waiting
-- task is locked and read again, and removed by the statements of cancel.sql or cancel_as_done.sql
-- and their companions. Writes no history, because only configurations define which queues keep
-- one.
{procedure allot_take_out}(
  {end_parameters}
)
{internal MODIFIES SQL DATA}
take_out: BEGIN
  DECLARE v_run_key, v_found BIGINT UNSIGNED;
  DECLARE v_requested_as_done BOOLEAN;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SET p_result = NULL;
  SELECT run_key INTO v_run_key
    FROM task
   WHERE queue_id = p_queue_id AND partition_no = p_partition_no AND prio = p_prio
     AND run_key = COALESCE((SELECT moved.run_key FROM task_moved AS moved
                              WHERE moved.queue_id = p_queue_id
                                AND moved.partition_no = p_partition_no
                                AND moved.prio = p_prio AND moved.first_key = p_first_key),
                            p_first_key)
     AND COALESCE(first_key, run_key) = p_first_key;
  IF EXISTS (SELECT 1 FROM task_running
              WHERE {called_id})
     OR EXISTS (SELECT 1 FROM task
                  JOIN q_lock_table AS lease
                    ON lease.queue_id = task.queue_id AND lease.partition_no = task.partition_no
                 WHERE task.queue_id = p_queue_id AND task.partition_no = p_partition_no
                   AND task.prio = p_prio AND task.run_key = v_run_key
                   AND task.flags & 64 <> 0                     -- cancel-watched
                   AND lease.state <> 'FREE'
                   AND v_run_key <=
                       ({now} << 12) + 4095)
  THEN
    INSERT INTO task_cancel (queue_id, partition_no, prio, first_key, reason, requested_at,
                             as_done)
    VALUES (p_queue_id, p_partition_no, p_prio, p_first_key, p_reason, UTC_TIMESTAMP(6), p_as_done)
        ON DUPLICATE KEY UPDATE reason = task_cancel.reason;
    -- FOR UPDATE, because the caller's snapshot may be older than another request.
    SELECT as_done
      INTO v_requested_as_done
      FROM task_cancel
     WHERE {called_id}
       FOR UPDATE;
    SET p_result = IF(v_requested_as_done = p_as_done, 'requested', 'conflict');
    LEAVE take_out;
  END IF;
  IF v_run_key IS NOT NULL THEN
    SELECT run_key INTO v_found
      FROM task
     WHERE queue_id = p_queue_id AND partition_no = p_partition_no AND prio = p_prio
       AND run_key = v_run_key AND COALESCE(first_key, run_key) = p_first_key
       FOR UPDATE;
    IF v_found IS NULL THEN
      CALL allot_refuse('the task has moved since this transaction began; cancel it in a new transaction');
    END IF;
    IF p_as_done THEN
      DELETE FROM task_attempt
       WHERE {called_id};
    ELSE
      INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, key_hash, type,
                             payload, cause, error, died_at, headers)
      SELECT queue_id, partition_no, prio, p_first_key, attempt, flags, key_hash, type, payload,
             'cancelled', p_reason, UTC_TIMESTAMP(6), headers
        FROM task
       WHERE queue_id = p_queue_id AND partition_no = p_partition_no AND prio = p_prio
         AND run_key = v_run_key;
    END IF;
    DELETE FROM task_moved
     WHERE {called_id};
    DELETE FROM task
     WHERE queue_id = p_queue_id AND partition_no = p_partition_no
       AND prio = p_prio AND run_key = v_run_key;
    UPDATE task_unique FORCE INDEX (task)
       SET free_at = UTC_TIMESTAMP(6) + INTERVAL IF(p_as_done, unique_for_us, 0) MICROSECOND
     WHERE {called_id} AND free_at IS NULL;
    DELETE FROM task_cancel
     WHERE {called_id};
    SET p_result = IF(p_as_done, 'done', 'cancelled');
  ELSEIF EXISTS (SELECT 1 FROM task_dead
                  WHERE {called_id}) THEN
    SET p_result = 'dead';
  END IF;
END;
