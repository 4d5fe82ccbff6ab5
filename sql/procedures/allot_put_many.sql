-- Makes the tasks of a list, inside a transaction: those with a unique key in the order of their
-- keys, so that two lists lock in the same order. All or nothing.
{procedure allot_put_many}(
  IN p_tasks LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_made LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_at INT;
  DECLARE v_left BOOLEAN DEFAULT TRUE;
  -- MySQL cannot sort a row that is larger than its buffer, so there the cursor returns only
  -- numbers, which index a JSON value. MariaDB can, and has no such type.
  /*!80000 DECLARE v_list JSON DEFAULT p_tasks; */
  DECLARE v_spread INT UNSIGNED DEFAULT CRC32(RAND()) DIV 2;
  DECLARE v_task, v_queue, v_type, v_payload LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE v_existed BOOLEAN;
  DECLARE v_message VARCHAR(512) CHARACTER SET utf8mb4;
  DECLARE tasks CURSOR FOR
    SELECT listed.at /*M!100600 , listed.task */
      FROM JSON_TABLE(p_tasks, '$[*]' COLUMNS(
             at FOR ORDINALITY,
             queue VARCHAR(63) CHARACTER SET utf8mb4 PATH '$.queue' NULL ON ERROR,
             unique_key VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.unique_key' NULL ON ERROR
             /*M!100600 , task JSON PATH '$' */)) AS listed
     ORDER BY CAST(listed.queue AS BINARY), CAST(listed.unique_key AS BINARY), listed.at;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_left = FALSE;
  {all_or_nothing allot_put_many};
  SET p_made = CONCAT('[', TRIM(TRAILING ',' FROM REPEAT('null,', JSON_LENGTH(p_tasks))), ']');
  OPEN tasks;
  FETCH tasks INTO v_at /*M!100600 , v_task */;
  WHILE v_left DO
    /*!80000 SET v_task = JSON_EXTRACT(v_list, CONCAT('$[', v_at - 1, ']')); */
    BEGIN
      DECLARE EXIT HANDLER FOR SQLSTATE '45000'
      BEGIN
        GET DIAGNOSTICS CONDITION 1 v_message = MESSAGE_TEXT;
        CALL allot_refuse(CONCAT('task ', v_at, ': ', v_message));
      END;
      IF JSON_TYPE(v_task) <> 'OBJECT' THEN
        CALL allot_refuse('not a JSON object');
      END IF;
      IF JSON_LENGTH(v_task) <> JSON_LENGTH(JSON_KEYS(v_task)) THEN
        CALL allot_refuse('options: an option is given twice');
      END IF;
      IF JSON_TYPE(JSON_EXTRACT(v_task, '$.queue')) NOT IN ('STRING', 'NULL') THEN
        CALL allot_refuse('''queue'' must be a string');
      END IF;
      IF JSON_TYPE(JSON_EXTRACT(v_task, '$.type')) <> 'STRING' THEN
        CALL allot_refuse('''type'' must be a string');
      END IF;
      SET v_queue = IF(JSON_TYPE(JSON_EXTRACT(v_task, '$.queue')) = 'STRING',
                       {json_text v_task, '$.queue'}, NULL),
          v_type = {json_text v_task, '$.type'},
          v_payload = COALESCE(
            /*!80000 JSON_UNQUOTE(JSON_EXTRACT(v_task, '$.payload')) */
            /*M!100600 IF(JSON_TYPE(JSON_EXTRACT(v_task, '$.payload')) = 'STRING',
                          JSON_VALUE(v_task, '$.payload'), JSON_EXTRACT(v_task, '$.payload')) */,
            ''),
          v_spread = v_spread + 1;
      CALL allot_put(v_queue, v_type, v_payload,
                     JSON_REMOVE(v_task, '$.queue', '$.type', '$.payload'),
                     v_spread, v_id, v_existed);
    END;
    SET p_made = JSON_REPLACE(p_made, CONCAT('$[', v_at - 1, ']'),
                              JSON_OBJECT('id', v_id, 'existed',
                                          JSON_EXTRACT(IF(v_existed, 'true', 'false'), '$')));
    FETCH tasks INTO v_at /*M!100600 , v_task */;
  END WHILE;
  CLOSE tasks;
  RELEASE SAVEPOINT allot_put_many;
END;
