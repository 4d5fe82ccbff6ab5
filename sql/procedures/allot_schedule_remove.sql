-- Removes a schedule with the record of its ticks, in the caller's transaction if there is one; its
-- tasks stay. p_result: 'removed', or NULL: there was none. One statement, which fails as a whole.
DROP PROCEDURE IF EXISTS /*!80000 allot_schedule_remove */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_schedule_remove(
  IN p_name LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_result VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: removes a schedule'
BEGIN
  DECLARE v_schedule_id INT UNSIGNED;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT schedule_id INTO v_schedule_id
    FROM schedule WHERE name = p_name AND LENGTH(name) = LENGTH(p_name)  -- padding would make it equal
     FOR UPDATE;
  DELETE schedule, schedule_tick
    FROM schedule LEFT JOIN schedule_tick ON schedule_tick.schedule_id = schedule.schedule_id
   WHERE schedule.schedule_id = v_schedule_id;
  SET p_result = IF(v_schedule_id IS NULL, NULL, 'removed');
END;
