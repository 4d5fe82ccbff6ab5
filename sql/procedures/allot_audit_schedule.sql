-- Writes the audit entry for an action on a schedule, in the open transaction (S89), like
-- queries/write_audit.sql. USER() is the calling account.
{procedure allot_audit_schedule}(
  IN p_action VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_schedule_id INT UNSIGNED,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
{internal MODIFIES SQL DATA}
BEGIN
  INSERT INTO audit (at, actor, source, action, subject, name, queue, detail, reason)
  SELECT UTC_TIMESTAMP(6), LEFT(USER(), 255), 'procedure', p_action, 'schedule', name, queue, '',
         COALESCE(LEFT(p_reason, 255), '')
    FROM schedule WHERE schedule_id = p_schedule_id;
END;
