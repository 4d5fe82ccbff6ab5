-- Finds a schedule by its name, and locks it for the rest of the caller's transaction.
{procedure allot_schedule}(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_schedule_id INT UNSIGNED,
  OUT p_paused BOOLEAN
)
{internal READS SQL DATA}
BEGIN
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT schedule_id, paused_at IS NOT NULL
    INTO p_schedule_id, p_paused
    FROM schedule WHERE name = p_name AND LENGTH(name) = LENGTH(p_name)  -- padding would make it equal
     FOR UPDATE;
  IF p_schedule_id IS NULL THEN
    CALL allot_refuse(CONCAT('schedule ', COALESCE(QUOTE(LEFT(p_name, 63)), 'NULL'),
                             ': unknown schedule'));
  END IF;
END;
