-- Option compress_above: a larger payload becomes a zlib stream, if that saves bytes. A compressed
-- payload stays unchanged.
{procedure allot_compress}(
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  INOUT p_payload LONGBLOB,
  INOUT p_flags TINYINT UNSIGNED
)
{internal NO SQL}
BEGIN
  DECLARE v_above BIGINT;
  DECLARE v_stream LONGBLOB;
  IF JSON_TYPE(JSON_EXTRACT(p_options, '$.compress_above')) LIKE '%INTEGER'
     AND CHAR_LENGTH(JSON_EXTRACT(p_options, '$.compress_above')) <= 8 THEN
    SET v_above = JSON_EXTRACT(p_options, '$.compress_above');
  END IF;
  IF v_above IS NULL OR v_above NOT BETWEEN 0 AND 16777215 THEN
    CALL allot_refuse('''compress_above'' must be a number of bytes, 0 (none) to 16777215');
  END IF;
  IF v_above > 0 AND LENGTH(p_payload) > v_above AND p_flags = 0 THEN
    SET v_stream = SUBSTRING(COMPRESS(p_payload), 5);  -- skips the server's length prefix
    -- The server also adds a dot to a stream that ends in a space, so such a stream is not used.
    IF LENGTH(v_stream) < LENGTH(p_payload) AND RIGHT(v_stream, 2) <> x'202E' THEN
      SET p_payload = v_stream;
      SET p_flags = 4;
    END IF;
  END IF;
END;
