-- Writes the public id of a task like TaskId::text() in daemon/queue/model/task.cc: two varints and
-- the key, in Crockford's base 32. CONV() counts 0-9a-v; those letters move up past i, l, o and u.
{procedure allot_id}(
  IN p_queue_id INT UNSIGNED,
  IN p_place INT UNSIGNED,                              -- partition_no * 4 + prio
  IN p_first_key BIGINT UNSIGNED,
  OUT p_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin
)
{internal NO SQL}
BEGIN
  DECLARE v_number INT UNSIGNED DEFAULT p_queue_id;
  DECLARE v_hex VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  DECLARE v_at, v_length INT DEFAULT 1;
  WHILE v_number > 127 DO
    SET v_hex = CONCAT(v_hex, HEX((v_number & 127) | 128)), v_number = v_number >> 7;
  END WHILE;
  SET v_hex = CONCAT(v_hex, LPAD(HEX(v_number), 2, '0')), v_number = p_place;
  WHILE v_number > 127 DO
    SET v_hex = CONCAT(v_hex, HEX((v_number & 127) | 128)), v_number = v_number >> 7;
  END WHILE;
  SET v_hex = CONCAT(v_hex, LPAD(HEX(v_number), 2, '0'), LPAD(HEX(p_first_key), 16, '0'));
  SET v_length = CEILING(CHAR_LENGTH(v_hex) * 4 / 5), p_id = '';
  WHILE v_at <= CHAR_LENGTH(v_hex) DO                   -- five bytes are eight digits
    SET p_id = CONCAT(p_id, LPAD(LOWER(CONV(RPAD(SUBSTRING(v_hex, v_at, 10), 10, '0'), 16, 32)),
                                 8, '0')),
        v_at = v_at + 10;
  END WHILE;
  SET p_id = LEFT(p_id, v_length);
  SET p_id = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(p_id,
             'v', 'z'), 'u', 'y'), 't', 'x'), 's', 'w'), 'r', 'v'), 'q', 't'), 'p', 's');
  SET p_id = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(p_id,
             'o', 'r'), 'n', 'q'), 'm', 'p'), 'l', 'n'), 'k', 'm'), 'j', 'k'), 'i', 'j');
END;
