-- allot_run in its own transaction.
{procedure allot_run_autocommit}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin
)
{internal MODIFIES SQL DATA}
{in_own_transaction CALL allot_run(p_name, p_id)}
