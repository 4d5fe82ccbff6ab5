-- Reads a key of 1 to 255 bytes from the option `p_name`.
{procedure allot_text}(
  IN p_name VARCHAR(31) CHARACTER SET utf8mb4,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_bytes LONGBLOB
)
{internal NO SQL}
BEGIN
  IF JSON_TYPE(JSON_EXTRACT(p_options, CONCAT('$.', p_name))) <> 'STRING' THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' must be a string'));
  END IF;
  SET p_bytes = {json_text p_options, CONCAT('$.', p_name)};
  IF LENGTH(p_bytes) NOT BETWEEN 1 AND 255 THEN
    CALL allot_refuse(CONCAT(p_name, ' of ', LENGTH(p_bytes), ' bytes: 1 to 255 are allowed'));
  END IF;
END;
