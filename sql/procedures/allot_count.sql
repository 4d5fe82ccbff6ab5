-- Appends a header with a number of attempts, if the options have it.
{procedure allot_count}(
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_name VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  INOUT p_headers VARBINARY(1024)
)
{internal NO SQL}
BEGIN
  DECLARE v_value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
    DEFAULT JSON_EXTRACT(p_options, CONCAT('$.', p_name));
  DECLARE v_count INT;
  IF JSON_CONTAINS_PATH(p_options, 'one', CONCAT('$.', p_name)) THEN
    IF JSON_TYPE(v_value) LIKE '%INTEGER' AND CHAR_LENGTH(v_value) <= 6 THEN
      SET v_count = v_value;
    END IF;
    IF v_count IS NULL OR v_count NOT BETWEEN 1 AND 100000 THEN
      CALL allot_refuse(CONCAT(QUOTE(p_name), ' must be a whole number, 1 to 100000'));
    END IF;
    SET p_headers = CONCAT(COALESCE(CONCAT(p_headers, CHAR(10)), ''), p_name, '=', v_count);
  END IF;
END;
