-- Reads a duration such as "300ms" or "5m" from the option `p_name`, in microseconds; 0 to a
-- century.
{procedure allot_duration}(
  IN p_name VARCHAR(31) CHARACTER SET utf8mb4,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_us BIGINT
)
{internal NO SQL}
BEGIN
  DECLARE v_text, v_digits LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_unit_us BIGINT;
  IF JSON_TYPE(JSON_EXTRACT(p_options, CONCAT('$.', p_name))) <> 'STRING' THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' must be a string'));
  END IF;
  SET v_text = {json_text p_options, CONCAT('$.', p_name)};
  SET v_unit_us = CASE WHEN RIGHT(v_text, 2) = 'ms' THEN 1000
                       WHEN RIGHT(v_text, 1) = 's' THEN 1000000
                       WHEN RIGHT(v_text, 1) = 'm' THEN 60000000
                       WHEN RIGHT(v_text, 1) = 'h' THEN 3600000000
                       WHEN RIGHT(v_text, 1) = 'd' THEN 86400000000 END;
  SET v_digits = LEFT(v_text, CHAR_LENGTH(v_text) - IF(v_unit_us = 1000, 2, 1));
  IF v_unit_us IS NULL OR v_digits NOT REGEXP '[0-9]' OR v_digits REGEXP '[^0-9]' THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' is "', LEFT(v_text, 40), '": not a duration,',
                             ' such as 300ms, 30s, 5m, 2h'));
  END IF;
  IF CHAR_LENGTH(v_digits) > 16 OR v_digits * v_unit_us > 36500 * 86400000000 THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' is "', LEFT(v_text, 40), '": 0 to a century are',
                             ' allowed'));
  END IF;
  SET p_us = v_digits * v_unit_us;
END;
