-- Parses a task's public id, as allot_id writes it, in either case. Refuses a text that is not an
-- id.
{procedure allot_read_id}(
  IN p_id LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_queue_id BIGINT UNSIGNED,
  OUT p_place BIGINT UNSIGNED,                          -- partition_no * 4 + prio
  OUT p_first_key BIGINT UNSIGNED
)
{internal NO SQL}
BEGIN
  DECLARE v_digits VARCHAR(48) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  DECLARE v_hex VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  DECLARE v_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE v_at, v_number INT DEFAULT 1;
  DECLARE v_byte, v_shift INT;
  IF p_id IS NULL OR LENGTH(p_id) NOT BETWEEN 16 AND 29
     OR p_id REGEXP '[^0-9abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ]' THEN
    CALL allot_refuse(CONCAT('task ', COALESCE(QUOTE(LEFT(p_id, 40)), 'NULL'), ': not an id'));
  END IF;
  SET p_queue_id = 0, p_place = 0;
  SET v_digits = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(LOWER(p_id),
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
        SET p_queue_id = p_queue_id + ((v_byte & 127) << v_shift);
      ELSE
        SET p_place = p_place + ((v_byte & 127) << v_shift);
      END IF;
      SET v_shift = v_shift + 7;
    UNTIL v_byte < 128 OR v_shift > 28 END REPEAT;
    SET v_number = v_number + 1;
  END WHILE;
  SET p_first_key = CONV(SUBSTRING(v_hex, v_at, 16), 16, 10);
  IF p_queue_id <= 4294967295 AND p_place <= 262143 THEN
    CALL allot_id(p_queue_id, p_place, p_first_key, v_id);
  END IF;
  IF NOT v_id <=> LOWER(p_id) THEN                    -- except for case, only one spelling is valid
    CALL allot_refuse(CONCAT('task ', QUOTE(LEFT(p_id, 40)), ': not an id'));
  END IF;
END;
