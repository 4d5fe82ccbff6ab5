-- Where a task is, by its public id: 'waiting' (or in a worker's hands just now), 'running' (by
-- itself, for long), 'dead', or NULL: finished, or there never was one.
DROP PROCEDURE IF EXISTS /*!80000 allot_task */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_task(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_state VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin
)
READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: where a task is'
BEGIN
  DECLARE v_digits VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  DECLARE v_hex VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  DECLARE v_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE v_at, v_number INT DEFAULT 1;
  DECLARE v_byte, v_shift INT;
  DECLARE v_queue_id, v_place, v_first_key BIGINT UNSIGNED DEFAULT 0;
  IF p_id IS NULL OR LENGTH(p_id) NOT BETWEEN 16 AND 29
     OR p_id REGEXP '[^0-9abcdefghjkmnpqrstvwxyz]' THEN
    CALL allot_refuse(CONCAT('task ', COALESCE(QUOTE(LEFT(p_id, 40)), 'NULL'), ': not an id'));
  END IF;
  -- The way back of allot_id.
  SET v_digits = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(p_id,
                 'j', 'i'), 'k', 'j'), 'm', 'k'), 'n', 'l'), 'p', 'm'), 'q', 'n'), 'r', 'o');
  SET v_digits = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(v_digits,
                 's', 'p'), 't', 'q'), 'v', 'r'), 'w', 's'), 'x', 't'), 'y', 'u'), 'z', 'v');
  WHILE v_at <= CHAR_LENGTH(v_digits) DO
    SET v_hex = CONCAT(v_hex, LPAD(CONV(RPAD(SUBSTRING(v_digits, v_at, 8), 8, '0'), 32, 16),
                                   10, '0')),
        v_at = v_at + 8;
  END WHILE;
  SET v_at = 1;
  WHILE v_number <= 2 DO
    SET v_shift = 0;
    REPEAT
      SET v_byte = CONV(SUBSTRING(v_hex, v_at, 2), 16, 10), v_at = v_at + 2;
      IF v_number = 1 THEN
        SET v_queue_id = v_queue_id + ((v_byte & 127) << v_shift);
      ELSE
        SET v_place = v_place + ((v_byte & 127) << v_shift);
      END IF;
      SET v_shift = v_shift + 7;
    UNTIL v_byte < 128 OR v_shift > 28 END REPEAT;
    SET v_number = v_number + 1;
  END WHILE;
  SET v_first_key = CONV(SUBSTRING(v_hex, v_at, 16), 16, 10);
  IF v_queue_id <= 4294967295 AND v_place <= 262143 THEN
    CALL allot_id(v_queue_id, v_place, v_first_key, v_id);
  END IF;
  IF NOT v_id <=> p_id THEN                           -- only one spelling of an id is an id
    CALL allot_refuse(CONCAT('task ', QUOTE(LEFT(p_id, 40)), ': not an id'));
  END IF;
  SET p_state = CASE
    WHEN EXISTS (SELECT 1 FROM task
                  WHERE queue_id = v_queue_id AND partition_no = v_place DIV 4
                    AND prio = v_place % 4
                    AND run_key = COALESCE(
                          (SELECT moved.run_key FROM task_moved AS moved
                            WHERE moved.queue_id = v_queue_id
                              AND moved.partition_no = v_place DIV 4
                              AND moved.prio = v_place % 4 AND moved.first_key = v_first_key),
                          v_first_key)
                    AND COALESCE(first_key, run_key) = v_first_key) THEN 'waiting'
    WHEN EXISTS (SELECT 1 FROM task_running
                  WHERE queue_id = v_queue_id AND partition_no = v_place DIV 4
                    AND prio = v_place % 4 AND first_key = v_first_key) THEN 'running'
    WHEN EXISTS (SELECT 1 FROM task_dead
                  WHERE queue_id = v_queue_id AND partition_no = v_place DIV 4
                    AND prio = v_place % 4 AND first_key = v_first_key) THEN 'dead'
  END;
END;
