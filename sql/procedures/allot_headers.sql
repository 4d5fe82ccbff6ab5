-- Headers of a task from its options, in the format of daemon/queue/model/headers.cc. An invalid
-- trace is left out, and the task is accepted. For tracestate only characters and length are
-- checked; readers leave out a state that is invalid otherwise.
{procedure allot_headers}(
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_headers VARBINARY(1024)
)
{internal NO SQL}
BEGIN
  DECLARE v_parent, v_state, v_label LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_limit_us BIGINT;
  IF JSON_CONTAINS_PATH(p_options, 'one', '$.label') THEN
    SET v_label = {json_text p_options, '$.label'};
    IF JSON_TYPE(JSON_EXTRACT(p_options, '$.label')) <> 'STRING'
       OR CHAR_LENGTH(v_label) NOT BETWEEN 1 AND 127 OR v_label REGEXP '[^ -~]' THEN
      CALL allot_refuse('''label'' must be 1 to 127 printable characters of ASCII');
    END IF;
    SET p_headers = CONCAT('label=', v_label);
  END IF;
  CALL allot_count(p_options, 'max_attempts', p_headers);
  CALL allot_count(p_options, 'max_losses', p_headers);
  IF JSON_CONTAINS_PATH(p_options, 'one', '$.time_limit') THEN
    CALL allot_duration('time_limit', p_options, v_limit_us);
    IF v_limit_us NOT BETWEEN 1000000 AND 720 * 3600000000 THEN
      CALL allot_refuse('''time_limit'' must be 1s to 720h');
    END IF;
    SET p_headers = CONCAT(COALESCE(CONCAT(p_headers, CHAR(10)), ''), 'time_limit=',
                           v_limit_us DIV 1000);
  END IF;
  IF JSON_TYPE(JSON_EXTRACT(p_options, '$.traceparent')) <> 'STRING' THEN
    CALL allot_refuse('''traceparent'' must be a string');
  END IF;
  IF JSON_TYPE(JSON_EXTRACT(p_options, '$.tracestate')) <> 'STRING' THEN
    CALL allot_refuse('''tracestate'' must be a string');
  END IF;
  SET v_parent = {json_text p_options, '$.traceparent'},
      v_state = {json_text p_options, '$.tracestate'};
  IF v_parent REGEXP '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}'
     AND LEFT(v_parent, 2) <> 'ff'
     AND (CHAR_LENGTH(v_parent) = 55
          OR (LEFT(v_parent, 2) <> '00' AND SUBSTRING(v_parent, 56, 1) = '-'))
     AND SUBSTRING(v_parent, 4, 32) <> REPEAT('0', 32)
     AND SUBSTRING(v_parent, 37, 16) <> REPEAT('0', 16) THEN
    SET p_headers = CONCAT(COALESCE(CONCAT(p_headers, CHAR(10)), ''), 'traceparent=00-',
                           SUBSTRING(v_parent, 4, 50), '0',
                           CONV(SUBSTRING(v_parent, 54, 2), 16, 10) & 3);
    IF CHAR_LENGTH(v_state) BETWEEN 1 AND 735 AND NOT v_state REGEXP '[^ -~]' THEN
      SET p_headers = CONCAT(p_headers, CHAR(10), 'tracestate=', v_state);
    END IF;
  END IF;
END;
