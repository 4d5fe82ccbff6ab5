-- Parameters of allot_reserve_key.
IN p_queue_id INT UNSIGNED,
  INOUT p_partition_no SMALLINT UNSIGNED,
  INOUT p_prio TINYINT UNSIGNED,
  IN p_delay_us BIGINT,
  IN p_run_at_us BIGINT,                                -- NULL: p_delay_us decides
  IN p_unique_key VARBINARY(255),
  IN p_unique_for_us BIGINT,
  IN p_expires_at DATETIME(6),
  IN p_layout INT UNSIGNED,                             -- NULL: any
  IN p_key_hash INT UNSIGNED,
  IN p_flags TINYINT UNSIGNED,
  IN p_type VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_payload LONGBLOB,
  IN p_headers VARBINARY(1024),                         -- NULL: none
  OUT p_first_key BIGINT UNSIGNED,
  OUT p_existed BOOLEAN
