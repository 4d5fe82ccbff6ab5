-- Gives a checked task its partition, and makes it there. In an ordered or limited queue it reads
-- the queue again if that was resized, or routed elsewhere, since the caller read it: the statement
-- fails (1690, see queries/placed_queue.sql) unless the queue still has that layout.
{procedure allot_make}(
  IN p_named LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,  -- queue in the submission
  INOUT p_queue_id INT UNSIGNED,                        -- this and the next three: allot_address
  INOUT p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_placement VARCHAR(15) CHARACTER SET utf8mb4,
  IN p_layout INT UNSIGNED,
  IN p_partition_key LONGBLOB,
  IN p_spread INT UNSIGNED,
  OUT p_partition_no SMALLINT UNSIGNED,
  INOUT p_prio INT,
  IN p_delay_us BIGINT,
  IN p_run_at_us BIGINT,                                -- NULL: p_delay_us decides
  IN p_unique_key LONGBLOB,
  IN p_unique_for_us BIGINT,
  IN p_expires_at DATETIME(6),
  IN p_flags TINYINT UNSIGNED,
  IN p_type LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_payload LONGBLOB,
  IN p_headers VARBINARY(1024),                         -- NULL: none
  OUT p_key BIGINT UNSIGNED,
  OUT p_existed BOOLEAN
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_partitions, v_max_running, v_first_partition SMALLINT UNSIGNED;
  DECLARE v_layout, v_key_hash INT UNSIGNED;
  DECLARE v_placement VARCHAR(15) CHARACTER SET utf8mb4;
  DECLARE v_last_key BIGINT UNSIGNED;
  DECLARE v_tries INT DEFAULT 0;
  DECLARE v_made, v_transaction BOOLEAN DEFAULT FALSE;
  SET p_existed = FALSE;
  SELECT partitions, max_running, first_partition
    INTO v_partitions, v_max_running, v_first_partition
    FROM queue WHERE queue_id = p_queue_id LOCK IN SHARE MODE;  -- like allot_address
  IF p_placement IN ('ordered', 'limited') THEN
    SET v_key_hash = CRC32(p_partition_key), v_layout = p_layout;
  END IF;
  WHILE NOT v_made DO
    BEGIN
      DECLARE EXIT HANDLER FOR 1690
      BEGIN
        SET v_tries = v_tries + 1;
        IF v_layout IS NULL OR v_tries = 8 THEN RESIGNAL; END IF;
        SET p_queue = p_named;
        CALL allot_address(p_queue, p_type, p_queue_id, v_placement, v_layout);
        SELECT partitions, max_running, first_partition
          INTO v_partitions, v_max_running, v_first_partition
          FROM queue WHERE queue_id = p_queue_id LOCK IN SHARE MODE;
      END;
      CALL allot_place(p_queue_id, p_queue, p_placement, v_partitions, v_first_partition,
                       v_max_running, p_partition_key, p_spread, p_partition_no);
      IF p_placement = 'ordered' THEN                   -- like queries/last_key.sql
        SELECT MAX(run_key) INTO v_last_key FROM task
         WHERE queue_id = p_queue_id AND partition_no = p_partition_no AND prio = p_prio;
      END IF;
      IF p_unique_key IS NULL THEN
        CALL allot_insert(p_queue_id, p_partition_no, p_prio, p_delay_us, p_run_at_us, p_expires_at,
                          v_layout, v_last_key, v_key_hash, p_flags, p_type, p_payload, p_headers,
                          p_key);
      ELSE
        {in_a_transaction allot_reserve_key (p_queue_id, p_partition_no, p_prio, p_delay_us, p_run_at_us,
                           p_unique_key, p_unique_for_us, p_expires_at, v_layout, v_key_hash,
                           p_flags, p_type, p_payload, p_headers, p_key, p_existed)};
      END IF;
      SET v_made = TRUE;
    END;
  END WHILE;
END;
