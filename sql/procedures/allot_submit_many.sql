-- Submits the tasks of a JSON array, all or none of them: see docs/sql-api.md.
{procedure allot_submit_many}(
  IN p_tasks LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_made LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: submits the tasks of a JSON array'
BEGIN
  DECLARE v_transaction BOOLEAN;
  DECLARE v_names LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_skeleton LONGTEXT CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE v_members BIGINT;
  DECLARE v_at INT DEFAULT 0;
  IF p_tasks IS NULL OR NOT JSON_VALID(p_tasks) THEN
    CALL allot_refuse(CONCAT('tasks: not JSON',
                             /*M!100000 ' that MariaDB reads (at most 32 levels, list and task',
                             ' included; allot_submit takes any payload)', */ ''));
  END IF;
  IF JSON_TYPE(p_tasks) <> 'ARRAY' THEN
    CALL allot_refuse('tasks: not a JSON array of objects');
  END IF;
  IF JSON_LENGTH(p_tasks) > 1000 THEN
    CALL allot_refuse(CONCAT('tasks: ', JSON_LENGTH(p_tasks),
                             ' exceed the limit of 1000 per call'));
  END IF;
  -- Checked here, because MySQL drops repeated names when the list is taken apart. As in
  -- allot_check_options; MariaDB checks in allot_put_many.
  /*!80000
  SELECT COALESCE(SUM(JSON_LENGTH(JSON_KEYS(listed.task))), 0)
    INTO v_members
    FROM JSON_TABLE(p_tasks, '$[*]' COLUMNS(task JSON PATH '$')) AS listed;
  IF LENGTH(p_tasks) - LENGTH(REPLACE(p_tasks, ':', '')) <> v_members THEN
    CALL allot_skeleton(p_tasks, v_skeleton);
  END IF;
  WHILE v_members <> LENGTH(v_skeleton) - LENGTH(REPLACE(v_skeleton, ':', '')) DO
    SET v_names = JSON_KEYS(JSON_EXTRACT(p_tasks, CONCAT('$[', v_at, ']'))), v_at = v_at + 1;
    IF v_names IS NULL THEN
      CALL allot_refuse(CONCAT('task ', v_at, ': not a JSON object'));
    END IF;
    IF LENGTH(SUBSTRING_INDEX(v_skeleton, '>', 1)) - 1 <> JSON_LENGTH(v_names) THEN
      CALL allot_refuse(CONCAT('task ', v_at, ': options: an option is given twice'));
    END IF;
    SET v_members = v_members - JSON_LENGTH(v_names),
        v_skeleton = SUBSTRING(v_skeleton, CHAR_LENGTH(SUBSTRING_INDEX(v_skeleton, '>', 1)) + 2);
  END WHILE;
  */
  {in_a_transaction allot_put_many (p_tasks, p_made)};
END;
