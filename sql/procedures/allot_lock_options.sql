-- Reads the options of allot_lock_take: {"slots": 3, "ttl": "30s", "wait": "1m"}. Defaults: p_slots
-- is NULL; p_wait_us is 0.
{procedure allot_lock_options}(
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_slots INT,
  OUT p_ttl_us BIGINT,
  OUT p_wait_us BIGINT
)
{internal CONTAINS SQL}
BEGIN
  DECLARE v_slots LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_known INT;
  SET p_slots = NULL, p_ttl_us = 30000000, p_wait_us = 0;
  IF p_options IS NOT NULL THEN
    IF NOT JSON_VALID(p_options) OR JSON_TYPE(p_options) <> 'OBJECT' THEN
      CALL allot_refuse('options: not a JSON object');
    END IF;
    SET v_known = JSON_CONTAINS_PATH(p_options, 'one', '$.slots')
                + JSON_CONTAINS_PATH(p_options, 'one', '$.ttl')
                + JSON_CONTAINS_PATH(p_options, 'one', '$.wait');
    IF JSON_LENGTH(p_options) <> v_known THEN
      CALL allot_refuse('options: allowed are only ''slots'', ''ttl'' and ''wait''');
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.slots') THEN
      SET v_slots = JSON_EXTRACT(p_options, '$.slots');
      IF JSON_TYPE(JSON_EXTRACT(p_options, '$.slots')) <> 'INTEGER' OR CHAR_LENGTH(v_slots) > 9
         OR v_slots + 0 NOT BETWEEN 1 AND 1024 THEN
        CALL allot_refuse(CONCAT('''slots'' is ', LEFT(v_slots, 40), ': 1 to 1024 are allowed'));
      END IF;
      SET p_slots = v_slots;
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.ttl') THEN
      CALL allot_duration('ttl', p_options, p_ttl_us);
      IF p_ttl_us NOT BETWEEN 1000000 AND 86400000000 THEN
        CALL allot_refuse('''ttl'': 1s to 24h are allowed');
      END IF;
    END IF;
    IF JSON_CONTAINS_PATH(p_options, 'one', '$.wait') THEN
      CALL allot_duration('wait', p_options, p_wait_us);
      IF p_wait_us > 86400000000 THEN
        CALL allot_refuse('''wait'': 0s to 24h are allowed');
      END IF;
    END IF;
  END IF;
END;
