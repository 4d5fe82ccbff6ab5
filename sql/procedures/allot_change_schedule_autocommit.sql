-- allot_change_schedule in its own transaction.
{procedure allot_change_schedule_autocommit}(
  IN p_action VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_paused BOOLEAN
)
{internal MODIFIES SQL DATA}
{in_own_transaction CALL allot_change_schedule(p_action, p_name, p_reason, p_paused)}
