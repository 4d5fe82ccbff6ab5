-- Submits the tasks of a JSON array, all or none of them: docs/sql-api.md.
DROP PROCEDURE IF EXISTS /*!80000 allot_submit_many */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_submit_many(
  IN p_tasks LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_made LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: submits the tasks of a JSON array'
BEGIN
  DECLARE v_transaction BOOLEAN;
  IF p_tasks IS NULL OR NOT JSON_VALID(p_tasks) THEN
    CALL allot_refuse('tasks: not JSON');
  END IF;
  IF JSON_TYPE(p_tasks) <> 'ARRAY' THEN
    CALL allot_refuse('tasks: not a JSON array of objects');
  END IF;
  IF JSON_LENGTH(p_tasks) > 1000 THEN
    CALL allot_refuse(CONCAT('tasks: ', JSON_LENGTH(p_tasks),
                             ' of them: the most of one call is 1000'));
  END IF;
  CALL allot_transaction(v_transaction);
  IF v_transaction THEN
    CALL allot_put_many(p_tasks, p_made);
  ELSE
    CALL allot_put_many_alone(p_tasks, p_made);
  END IF;
END;
