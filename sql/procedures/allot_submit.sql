-- Submits one task, in the caller's transaction if there is one: see docs/sql-api.md.
{procedure allot_submit}(
  IN p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_type LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_payload LONGBLOB,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin,
  OUT p_existed BOOLEAN
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: submits one task'
BEGIN
  -- CRC32, because the low bits of RAND() are not random.
  CALL allot_put(p_queue, p_type, p_payload, p_options, CRC32(RAND()), p_id, p_existed);
END;
