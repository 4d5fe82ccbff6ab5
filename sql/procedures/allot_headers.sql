-- What goes with a task beside its payload, of its options, as daemon/queue/model/headers.cc writes
-- it. An invalid trace is left out and refuses no task. Of tracestate only characters and length are
-- looked at here: whoever reads it leaves out what is wrong otherwise.
DROP PROCEDURE IF EXISTS /*!80000 allot_headers */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_headers(
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_headers VARBINARY(1024)
)
NO SQL SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE v_parent, v_state LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_most INT;
  DECLARE v_limit_us BIGINT;
  IF JSON_CONTAINS_PATH(p_options, 'one', '$.max_attempts') THEN
    IF JSON_TYPE(JSON_EXTRACT(p_options, '$.max_attempts')) LIKE '%INTEGER'
       AND CHAR_LENGTH(JSON_EXTRACT(p_options, '$.max_attempts')) <= 6 THEN
      SET v_most = JSON_EXTRACT(p_options, '$.max_attempts');
    END IF;
    IF v_most IS NULL OR v_most NOT BETWEEN 1 AND 100000 THEN
      CALL allot_refuse('''max_attempts'' must be a whole number, 1 to 100000');
    END IF;
    SET p_headers = CONCAT('max_attempts=', v_most);
  END IF;
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
  SET v_parent = /*!80000 JSON_UNQUOTE(JSON_EXTRACT(p_options, '$.traceparent')) */
                 /*M!100600 JSON_VALUE(p_options, '$.traceparent') */,
      v_state = /*!80000 JSON_UNQUOTE(JSON_EXTRACT(p_options, '$.tracestate')) */
                /*M!100600 JSON_VALUE(p_options, '$.tracestate') */;
  IF v_parent REGEXP '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}'
     AND LEFT(v_parent, 2) <> 'ff'
     AND (CHAR_LENGTH(v_parent) = 55
          OR (LEFT(v_parent, 2) <> '00' AND SUBSTRING(v_parent, 56, 1) = '-'))
     AND SUBSTRING(v_parent, 4, 32) <> REPEAT('0', 32)
     AND SUBSTRING(v_parent, 37, 16) <> REPEAT('0', 16) THEN
    SET p_headers = CONCAT(COALESCE(CONCAT(p_headers, CHAR(10)), ''), 'traceparent=00-',
                           SUBSTRING(v_parent, 4, 50), '0',
                           CONV(SUBSTRING(v_parent, 54, 2), 16, 10) & 3);
    IF CHAR_LENGTH(v_state) BETWEEN 1 AND 887 AND NOT v_state REGEXP '[^ -~]' THEN
      SET p_headers = CONCAT(p_headers, CHAR(10), 'tracestate=', v_state);
    END IF;
  END IF;
END;
