-- Submits a task of a schedule and records it, in the open transaction. The schedule's own settings
-- were checked when it was made; its queue may have changed since. If a task already has the unique
-- key, it is returned, and no tick is recorded.
{procedure allot_run}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_schedule_id, v_queue_id, v_layout INT UNSIGNED;
  DECLARE v_named, v_queue, v_tick_field VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_type VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE v_placement VARCHAR(15) CHARACTER SET utf8mb4;
  DECLARE v_payload, v_unique_key, v_partition_key LONGBLOB;
  DECLARE v_prio INT;
  DECLARE v_delay_us, v_unique_for_us, v_expires_in_us BIGINT;
  DECLARE v_partition_no SMALLINT UNSIGNED;
  DECLARE v_key BIGINT UNSIGNED;
  DECLARE v_existed, v_paused BOOLEAN;
  DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);
  {all_or_nothing allot_run};
  CALL allot_schedule(p_name, v_schedule_id, v_paused);
  -- FOR UPDATE, because the caller's snapshot may be too old.
  SELECT queue, type, payload, prio, delay_us, unique_key, unique_for_us, partition_key,
         expires_in_us, tick_field
    INTO v_queue, v_type, v_payload, v_prio, v_delay_us, v_unique_key, v_unique_for_us,
         v_partition_key, v_expires_in_us, v_tick_field
    FROM schedule WHERE schedule_id = v_schedule_id FOR UPDATE;
  IF (SELECT COUNT(*) FROM queue WHERE name = v_queue LOCK IN SHARE MODE) = 0 THEN
    CALL allot_refuse(CONCAT('schedule ', QUOTE(p_name), ': unknown queue ', QUOTE(v_queue)));
  END IF;
  SET v_named = v_queue;
  CALL allot_address(v_queue, v_type, v_queue_id, v_placement, v_layout);
  IF v_placement = 'ordered'
     AND (v_prio <> 1 OR v_delay_us <> 0 OR v_unique_key IS NOT NULL) THEN
    CALL allot_refuse(CONCAT('queue ', QUOTE(v_queue), ' is ordered: ',
                             CASE WHEN v_prio <> 1 THEN 'prio' WHEN v_delay_us <> 0 THEN 'delay'
                                  ELSE 'unique_key' END,
                             ' would break the order of its tasks'));
  END IF;
  IF v_tick_field IS NOT NULL THEN
    CALL allot_with_tick(v_tick_field, v_now, v_payload);
  END IF;
  CALL allot_make(v_named, v_queue_id, v_queue, v_placement, v_layout, v_partition_key,
                  CRC32(RAND()), v_partition_no, v_prio, v_delay_us, NULL, v_unique_key, v_unique_for_us,
                  IF(v_expires_in_us > 0, v_now + INTERVAL v_expires_in_us MICROSECOND, NULL), 0,
                  v_type, v_payload, NULL, v_key, v_existed);
  CALL allot_id(v_queue_id, v_partition_no * 4 + v_prio, v_key, p_id);
  IF NOT v_existed THEN
    UPDATE schedule
       SET last_key = v_key, last_queue_id = v_queue_id, last_partition_no = v_partition_no,
           last_prio = v_prio, last_run = v_now, ticks = ticks + 1, submitted = submitted + 1
     WHERE schedule_id = v_schedule_id;
    INSERT INTO schedule_tick
    SELECT schedule_id, ticks, v_now, UTC_TIMESTAMP(6), last_queue_id, last_partition_no, last_prio,
           last_key, 'run now'
      FROM schedule WHERE schedule_id = v_schedule_id;
    DELETE FROM schedule_tick
     WHERE schedule_id = v_schedule_id
       AND tick_no <= (SELECT last.tick_no
                         FROM (SELECT tick_no FROM schedule_tick
                                WHERE schedule_id = v_schedule_id
                                ORDER BY tick_no DESC LIMIT 1 OFFSET 20) AS last);
    CALL allot_audit_schedule('run_schedule', v_schedule_id, NULL);
  END IF;
  RELEASE SAVEPOINT allot_run;
END;
