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
  DELETE schedule, schedule_tick
    FROM schedule LEFT JOIN schedule_tick ON schedule_tick.schedule_id = schedule.schedule_id
   WHERE schedule.name = p_name AND LENGTH(schedule.name) = LENGTH(p_name);
  SET p_result = IF(ROW_COUNT() > 0, 'removed', NULL);
END;
