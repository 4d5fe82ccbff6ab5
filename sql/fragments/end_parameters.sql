-- Parameters of allot_take_out.
IN p_queue_id INT UNSIGNED,
  IN p_partition_no SMALLINT UNSIGNED,
  IN p_prio TINYINT UNSIGNED,
  IN p_first_key BIGINT UNSIGNED,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_as_done BOOLEAN,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
