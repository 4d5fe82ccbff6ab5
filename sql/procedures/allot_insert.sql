-- Makes one task without a unique key: one statement, repeated with a new salt if another task has
-- the key. The queue of a task with a layout is as in queries/placed_queue.sql.
{procedure allot_insert}(
  IN p_queue_id INT UNSIGNED,
  IN p_partition_no SMALLINT UNSIGNED,
  IN p_prio TINYINT UNSIGNED,
  IN p_delay_us BIGINT,
  IN p_run_at_us BIGINT,                                -- NULL: p_delay_us decides
  IN p_expires_at DATETIME(6),
  IN p_layout INT UNSIGNED,                             -- NULL: any
  IN p_last_key BIGINT UNSIGNED,                        -- the task follows it; NULL: anywhere
  IN p_key_hash INT UNSIGNED,
  IN p_flags TINYINT UNSIGNED,
  IN p_type VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_payload LONGBLOB,
  IN p_headers VARBINARY(1024),                         -- NULL: none
  OUT p_run_key BIGINT UNSIGNED
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_tries INT DEFAULT 0;
  DECLARE v_made BOOLEAN DEFAULT FALSE;
  WHILE NOT v_made DO
    BEGIN
      DECLARE EXIT HANDLER FOR 1062
      BEGIN
        SET v_tries = v_tries + 1;
        IF v_tries = 8 THEN RESIGNAL; END IF;
      END;
      CALL allot_key(p_delay_us, p_run_at_us, p_run_key);
      IF p_run_key <= p_last_key THEN
        SET p_run_key = p_last_key + 1 + (CRC32(RAND()) & 4095);
      END IF;
      IF p_layout IS NULL THEN
        INSERT INTO task (queue_id, partition_no, prio, run_key, expires_at, flags, type, payload,
                          headers)
        VALUES (p_queue_id, p_partition_no, p_prio, p_run_key, p_expires_at, p_flags, p_type,
                p_payload, p_headers);
      ELSE
        INSERT INTO task (queue_id, partition_no, prio, run_key, expires_at, flags, key_hash, type,
                          payload, headers)
        VALUES ((SELECT queue_id + ~0 * (layout <> p_layout)
                   FROM queue WHERE queue_id = p_queue_id LOCK IN SHARE MODE),
                p_partition_no, p_prio, p_run_key, p_expires_at, p_flags, p_key_hash, p_type,
                p_payload, p_headers);
      END IF;
      SET v_made = TRUE;
    END;
  END WHILE;
END;
