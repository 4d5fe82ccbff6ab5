-- Inserts the time of a tick into a payload, which is a JSON object or empty, as its first member.
-- The payload's own bytes stay unchanged, as in with_tick() in daemon/queue/schedules/schedule.cc.
{procedure allot_with_tick}(
  IN p_field VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_tick DATETIME(6),
  INOUT p_payload LONGBLOB
)
{internal NO SQL}
BEGIN
  DECLARE v_brace, v_next INT DEFAULT LOCATE(BINARY '{', p_payload);
  DECLARE v_member VARBINARY(255) DEFAULT CONCAT(
    '"', p_field, '":"', DATE_FORMAT(p_tick, '%Y-%m-%dT%H:%i:%s'),
    IF(MICROSECOND(p_tick) = 0, '', DATE_FORMAT(p_tick, '.%f')), 'Z"');
  IF v_brace = 0 THEN
    SET p_payload = CONCAT(BINARY '{', v_member, BINARY '}');
  ELSE
    SET v_next = v_brace + 1;
    WHILE HEX(SUBSTRING(p_payload, v_next, 1)) IN ('20', '09', '0A', '0D') DO
      SET v_next = v_next + 1;
    END WHILE;
    SET p_payload = CONCAT(LEFT(p_payload, v_brace), v_member,
                           IF(HEX(SUBSTRING(p_payload, v_next, 1)) IN ('7D', ''), BINARY '', BINARY ','),
                           SUBSTRING(p_payload, v_brace + 1));
  END IF;
END;
