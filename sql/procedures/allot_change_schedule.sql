-- Pauses, resumes or removes a schedule (p_action: 'pause_schedule', 'resume_schedule',
-- 'remove_schedule') and writes the audit entry, in the open transaction: all or nothing. Like the
-- queries of these names: paused_at comes last.
{procedure allot_change_schedule}(
  IN p_action VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin,
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_reason LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_paused BOOLEAN
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_schedule_id INT UNSIGNED;
  {all_or_nothing allot_change_schedule};
  CALL allot_schedule(p_name, v_schedule_id, p_paused);
  IF p_action <> 'resume_schedule' OR p_paused THEN
    CALL allot_audit_schedule(p_action, v_schedule_id, p_reason);
  END IF;
  CASE p_action
  WHEN 'pause_schedule' THEN
    UPDATE schedule
       SET version = IF(paused_at IS NULL,
                        GREATEST(version + 1, {now}),
                        version),
           paused_at = COALESCE(paused_at, UTC_TIMESTAMP(6)), pause_reason = COALESCE(p_reason, '')
     WHERE schedule_id = v_schedule_id;
  WHEN 'resume_schedule' THEN
    UPDATE schedule
       SET version = IF(paused_at IS NULL, version,
                        GREATEST(version + 1, {now})),
           resumed_at = IF(paused_at IS NULL, resumed_at, UTC_TIMESTAMP(6)),
           pause_reason = '', paused_at = NULL
     WHERE schedule_id = v_schedule_id;
  ELSE
    DELETE FROM schedule_tick WHERE schedule_id = v_schedule_id;
    DELETE FROM schedule WHERE schedule_id = v_schedule_id;
  END CASE;
  RELEASE SAVEPOINT allot_change_schedule;
END;
