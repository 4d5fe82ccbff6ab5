-- Checks one task completely, and makes it in the partition that `p_spread` selects.
-- Rule: S79.
{procedure allot_put}(
  IN p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_type LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_payload LONGBLOB,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_spread INT UNSIGNED,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin,
  OUT p_existed BOOLEAN
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_queue_id, v_layout INT UNSIGNED;
  DECLARE v_placement VARCHAR(15) CHARACTER SET utf8mb4;
  DECLARE v_partition_no SMALLINT UNSIGNED;
  DECLARE v_prio INT DEFAULT 1;
  DECLARE v_delay_us, v_expires_in_us BIGINT DEFAULT 0;
  DECLARE v_run_at_us, v_expires_at_us BIGINT;
  DECLARE v_expires_at DATETIME(6);
  DECLARE v_unique_key, v_partition_key LONGBLOB;
  DECLARE v_unique_for_us BIGINT DEFAULT 300000000;
  DECLARE v_flags TINYINT UNSIGNED DEFAULT 0;
  DECLARE v_headers VARBINARY(1024);
  DECLARE v_key BIGINT UNSIGNED;

  IF p_type IS NULL OR LENGTH(p_type) NOT BETWEEN 1 AND 127 OR p_type REGEXP '[^-A-Za-z0-9._]' THEN
    CALL allot_refuse(CONCAT('type ', COALESCE(QUOTE(LEFT(p_type, 70)), 'NULL'),
                             ': 1 to 127 of A-Z a-z 0-9 . _ - are allowed'));
  END IF;
  IF p_payload IS NULL THEN
    CALL allot_refuse('payload is NULL; an empty payload is ''''');
  END IF;
  IF LENGTH(p_payload) > 16777215 THEN
    CALL allot_refuse(CONCAT('payload of ', LENGTH(p_payload), ' bytes: the limit is 16 MiB - 1',
                             ' (16777215); store the data elsewhere and submit a reference'));
  END IF;

  IF p_options IS NOT NULL THEN
    CALL allot_check_options(p_options);
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.prio') THEN
      IF JSON_TYPE(JSON_EXTRACT(p_options, '$.prio')) NOT LIKE '%INTEGER'
         OR CAST(JSON_EXTRACT(p_options, '$.prio') AS CHAR) NOT IN ('0', '1', '2', '3') THEN
        CALL allot_refuse('''prio'' must be 0 (first) to 3');
      END IF;
      SET v_prio = JSON_EXTRACT(p_options, '$.prio');
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'all', '$.delay', '$.run_at') THEN
      CALL allot_refuse('delay and run_at exclude each other');
    END IF;
    {option delay CALL allot_duration('delay', p_options, v_delay_us)};
    {option run_at CALL allot_moment('run_at', p_options, v_run_at_us)};
    {option unique_key CALL allot_text('unique_key', p_options, v_unique_key)};
    {option unique_for CALL allot_duration('unique_for', p_options, v_unique_for_us)};
    {option partition_key CALL allot_text('partition_key', p_options, v_partition_key)};
    IF JSON_CONTAINS_PATH(p_options, 'all', '$.expires_in', '$.expires_at') THEN
      CALL allot_refuse('expires_in and expires_at exclude each other');
    END IF;
    {option expires_in CALL allot_duration('expires_in', p_options, v_expires_in_us)};
    {option expires_at CALL allot_moment('expires_at', p_options, v_expires_at_us)};
    IF (v_expires_in_us > 0 AND v_expires_in_us <= v_delay_us)
       OR v_expires_at_us <= v_run_at_us THEN
      CALL allot_refuse('the task expires before it is due, so it would never run');
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.compression') THEN
      SET v_flags = CASE JSON_EXTRACT(p_options, '$.compression')
                      WHEN '"gzip"' THEN 4 WHEN '"zstd"' THEN 8 ELSE 0 END;
      IF v_flags = 0 THEN
        CALL allot_refuse('''compression'' must be "gzip" or "zstd"');
      END IF;
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.compress_above') THEN
      CALL allot_compress(p_options, p_payload, v_flags);
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.max_attempts', '$.max_losses', '$.label',
                          '$.time_limit', '$.traceparent', '$.tracestate') THEN
      CALL allot_headers(p_options, v_headers);
    END IF;
  END IF;

  SET v_queue = p_queue;
  CALL allot_address(v_queue, p_type, v_queue_id, v_placement, v_layout);
  IF v_placement = 'ordered' AND (v_prio <> 1 OR v_delay_us <> 0 OR v_run_at_us IS NOT NULL
                                  OR v_unique_key IS NOT NULL) THEN
    CALL allot_refuse(CONCAT('queue ', QUOTE(v_queue), ' is ordered: ',
                             CASE WHEN v_prio <> 1 THEN 'prio' WHEN v_delay_us <> 0 THEN 'delay'
                                  WHEN v_run_at_us IS NOT NULL THEN 'run_at' ELSE 'unique_key' END,
                             ' would break the order of its tasks'));
  END IF;
  SET v_expires_at = CAST('2025-01-01' AS DATETIME(6)) + INTERVAL v_expires_at_us MICROSECOND;
  IF v_expires_in_us > 0 THEN
    SET v_expires_at = UTC_TIMESTAMP(6) + INTERVAL v_expires_in_us MICROSECOND;
  END IF;

  CALL allot_make(p_queue, v_queue_id, v_queue, v_placement, v_layout, v_partition_key, p_spread,
                  v_partition_no, v_prio, v_delay_us, v_run_at_us, v_unique_key, v_unique_for_us,
                  v_expires_at, v_flags, p_type, p_payload, v_headers, v_key, p_existed);
  CALL allot_id(v_queue_id, v_partition_no * 4 + v_prio, v_key, p_id);
END;
