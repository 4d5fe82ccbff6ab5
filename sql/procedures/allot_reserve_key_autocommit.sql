-- allot_reserve_key in its own transaction, for callers without an open one. A separate procedure,
-- because a trigger may not call one that contains these statements.
DROP PROCEDURE IF EXISTS /*!80000 allot_reserve_key_autocommit */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_reserve_key_autocommit(
  IN p_queue_id INT UNSIGNED,
  INOUT p_partition_no SMALLINT UNSIGNED,
  INOUT p_prio TINYINT UNSIGNED,
  IN p_delay_us BIGINT,
  IN p_run_at_us BIGINT,
  IN p_unique_key VARBINARY(255),
  IN p_unique_for_us BIGINT,
  IN p_expires_at DATETIME(6),
  IN p_layout INT UNSIGNED,
  IN p_key_hash INT UNSIGNED,
  IN p_flags TINYINT UNSIGNED,
  IN p_type VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_payload LONGBLOB,
  IN p_headers VARBINARY(1024),
  OUT p_first_key BIGINT UNSIGNED,
  OUT p_existed BOOLEAN
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
{in_own_transaction CALL allot_reserve_key(p_queue_id, p_partition_no, p_prio, p_delay_us,
    p_run_at_us, p_unique_key, p_unique_for_us, p_expires_at, p_layout, p_key_hash, p_flags, p_type,
    p_payload, p_headers, p_first_key, p_existed)}
