-- Reads the option run_at, RFC 3339 with its zone, in microseconds since 2025; 0 for earlier
-- moments.
{procedure allot_moment}(
  IN p_name VARCHAR(31) CHARACTER SET utf8mb4,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_us BIGINT
)
{internal NO SQL}
BEGIN
  DECLARE v_text, v_zone, v_fraction LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_first DATE;
  DECLARE v_zone_s INT;
  IF JSON_TYPE(JSON_EXTRACT(p_options, CONCAT('$.', p_name))) <> 'STRING' THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' must be a string'));
  END IF;
  SET v_text = {json_text p_options, CONCAT('$.', p_name)};
  IF v_text NOT REGEXP CONCAT('\\A[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt\\x20][0-9]{2}:[0-9]{2}:[0-9]{2}',
                              '([.][0-9]+)?([Zz]|[-+][0-9]{2}:[0-9]{2})\\z') THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' is "', LEFT(v_text, 30), '": not a time with a',
                             ' zone, such as 2026-12-24T18:00:00Z or ..T19:00:00+01:00'));
  END IF;
  SET v_zone = IF(RIGHT(v_text, 1) IN ('Z', 'z'), '+00:00', RIGHT(v_text, 6));
  SET v_zone_s = SUBSTRING(v_zone, 2, 2) * 3600 + SUBSTRING(v_zone, 5, 2) * 60;
  SET v_fraction = SUBSTRING(COALESCE(REGEXP_SUBSTR(SUBSTRING(v_text, 20), '[.][0-9]+'), ''), 2);
  IF SUBSTRING(v_text, 6, 2) NOT BETWEEN 1 AND 12 OR SUBSTRING(v_text, 12, 2) > 23
     OR SUBSTRING(v_text, 15, 2) > 59 OR SUBSTRING(v_text, 18, 2) > 60
     OR SUBSTRING(v_zone, 2, 2) > 23 OR SUBSTRING(v_zone, 5, 2) > 59 THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' is "', LEFT(v_text, 40), '": no such day or time'));
  END IF;
  -- Years before 1000 are in the past in any case; the server's calendar begins in the year 1000.
  SET v_first = CONCAT(GREATEST(LEFT(v_text, 4), 1000), SUBSTRING(v_text, 5, 3), '-01');
  IF SUBSTRING(v_text, 9, 2) NOT BETWEEN 1 AND DAY(LAST_DAY(v_first)) THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' is "', LEFT(v_text, 40), '": no such day or time'));
  END IF;
  SET p_us = (DATEDIFF(v_first, '2025-01-01') + SUBSTRING(v_text, 9, 2) - 1) * 86400000000
           + (SUBSTRING(v_text, 12, 2) * 3600 + SUBSTRING(v_text, 15, 2) * 60
              + SUBSTRING(v_text, 18, 2)) * 1000000
           + RPAD(LEFT(v_fraction, 6), 6, '0')
           - IF(LEFT(v_zone, 1) = '-', -v_zone_s, v_zone_s) * 1000000;
  IF p_us >= DATEDIFF('2150-01-01', '2025-01-01') * 86400000000 THEN
    CALL allot_refuse(CONCAT('''', p_name,
                             ''' is the year 2150 or later; the latest time is ',
                             '2149-12-31T23:59:59.999999Z'));
  END IF;
  SET p_us = GREATEST(p_us, 0);
END;
