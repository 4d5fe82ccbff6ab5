-- One task: checks everything, and makes it in the partition that `p_spread` falls on.
DROP PROCEDURE IF EXISTS /*!80000 allot_put */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_put(
  IN p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_type LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_payload LONGBLOB,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_spread INT UNSIGNED,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin,
  OUT p_existed BOOLEAN
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE v_queue_id INT UNSIGNED;
  DECLARE v_partition_no SMALLINT UNSIGNED;
  DECLARE v_prio INT DEFAULT 1;
  DECLARE v_delay_us BIGINT DEFAULT 0;
  DECLARE v_run_at_us BIGINT;
  DECLARE v_unique_key LONGBLOB;
  DECLARE v_unique_for_us BIGINT DEFAULT 300000000;
  DECLARE v_key BIGINT UNSIGNED;
  DECLARE v_transaction BOOLEAN;

  IF p_type IS NULL OR LENGTH(p_type) NOT BETWEEN 1 AND 63 OR p_type REGEXP '[^-A-Za-z0-9._]' THEN
    CALL allot_refuse(CONCAT('type ', COALESCE(QUOTE(LEFT(p_type, 70)), 'NULL'),
                             ': 1 to 63 of A-Z a-z 0-9 . _ - are allowed'));
  END IF;
  IF p_payload IS NULL THEN
    CALL allot_refuse('payload NULL: an empty one is ''''');
  END IF;
  IF LENGTH(p_payload) > 16777215 THEN
    CALL allot_refuse(CONCAT('payload of ', LENGTH(p_payload), ' bytes: the most is 16 MiB - 1',
                             ' (16777215); put the data elsewhere and submit its name'));
  END IF;

  IF p_options IS NOT NULL THEN
    CALL allot_check_options(p_options);
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.prio') THEN
      IF JSON_TYPE(JSON_EXTRACT(p_options, '$.prio')) NOT LIKE '%INTEGER'
         OR JSON_UNQUOTE(JSON_EXTRACT(p_options, '$.prio')) NOT IN ('0', '1', '2', '3') THEN
        CALL allot_refuse('''prio'' must be 0 (first) to 3');
      END IF;
      SET v_prio = JSON_UNQUOTE(JSON_EXTRACT(p_options, '$.prio'));
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'all', '$.delay', '$.run_at') THEN
      CALL allot_refuse('delay and run_at together: a task has one of them');
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.delay') THEN
      CALL allot_duration('delay', p_options, v_delay_us);
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.run_at') THEN
      CALL allot_moment('run_at', p_options, v_run_at_us);
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.unique_key') THEN
      IF JSON_TYPE(JSON_EXTRACT(p_options, '$.unique_key')) <> 'STRING' THEN
        CALL allot_refuse('''unique_key'' must be a string');
      END IF;
      SET v_unique_key = JSON_UNQUOTE(JSON_EXTRACT(p_options, '$.unique_key'));
      IF LENGTH(v_unique_key) NOT BETWEEN 1 AND 255 THEN
        CALL allot_refuse(CONCAT('unique_key of ', LENGTH(v_unique_key),
                                 ' bytes: 1 to 255 are allowed'));
      END IF;
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.unique_for') THEN
      CALL allot_duration('unique_for', p_options, v_unique_for_us);
    END IF;
  END IF;

  SELECT queue_id, p_spread % partitions INTO v_queue_id, v_partition_no
    FROM queue WHERE name = p_queue AND LENGTH(name) = LENGTH(p_queue);  -- as padded it is equal
  IF v_queue_id IS NULL THEN
    CALL allot_refuse(CONCAT('queue ', COALESCE(QUOTE(LEFT(p_queue, 63)), 'NULL'),
                             ': there is no such queue'));
  END IF;

  SET p_existed = FALSE;
  IF v_unique_key IS NULL THEN
    CALL allot_insert(v_queue_id, v_partition_no, v_prio, v_delay_us, v_run_at_us, p_type,
                      p_payload, v_key);
  ELSE
    CALL allot_transaction(v_transaction);
    IF v_transaction THEN
      CALL allot_claim(v_queue_id, v_partition_no, v_prio, v_delay_us, v_run_at_us, v_unique_key,
                       v_unique_for_us, p_type, p_payload, v_key, p_existed);
    ELSE
      CALL allot_claim_alone(v_queue_id, v_partition_no, v_prio, v_delay_us, v_run_at_us,
                             v_unique_key, v_unique_for_us, p_type, p_payload, v_key, p_existed);
    END IF;
  END IF;
  CALL allot_id(v_queue_id, v_partition_no * 4 + v_prio, v_key, p_id);
END;
