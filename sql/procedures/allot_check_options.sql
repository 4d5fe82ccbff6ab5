-- Refuses a text that is not an object, an unknown name, and a repeated one.
{procedure allot_check_options}(
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
{internal NO SQL}
BEGIN
  -- The names of SubmitOptions, daemon/queue/submit/submit.h.
  DECLARE v_known LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT
    '["prio", "delay", "run_at", "unique_key", "unique_for", "partition_key", "expires_in",
      "expires_at", "compress_above", "compression", "max_attempts", "max_losses", "label",
      "time_limit", "traceparent", "tracestate"]';
  DECLARE v_names, v_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_skeleton LONGTEXT CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE v_at INT DEFAULT 0;
  IF NOT JSON_VALID(p_options) THEN
    CALL allot_refuse('options: not JSON');
  END IF;
  IF JSON_TYPE(p_options) <> 'OBJECT' THEN
    CALL allot_refuse('options: not a JSON object, such as {"delay": "5m"}');
  END IF;
  SET v_names = JSON_KEYS(p_options);
  WHILE v_at < JSON_LENGTH(v_names) DO
    SET v_name = JSON_EXTRACT(v_names, CONCAT('$[', v_at, ']')), v_at = v_at + 1;
    IF NOT JSON_CONTAINS(v_known, v_name) THEN
      CALL allot_refuse(CONCAT('options: unknown option ', LEFT(v_name, 40)));
    END IF;
  END WHILE;
  IF JSON_LENGTH(p_options) <> JSON_LENGTH(v_names) THEN
    CALL allot_refuse('options: an option is given twice');
  END IF;
  -- Always equal in MySQL. More colons than names: a colon is in a string, or a name is repeated.
  /*!80000
  IF LENGTH(p_options) - LENGTH(REPLACE(p_options, ':', '')) <> JSON_LENGTH(v_names) THEN
    CALL allot_skeleton(p_options, v_skeleton);
    IF LENGTH(v_skeleton) - 2 <> JSON_LENGTH(v_names) THEN
      CALL allot_refuse('options: an option is given twice');
    END IF;
  END IF;
  */
END;
