-- Takes a free slot of a named lock, past nobody who waits, or none: p_token is NULL then.
-- docs/locks.md. One statement, so that nothing of it is left open. Where there is a ticket, it is
-- asked for before, because take_lock.sql locks a ticket first and then the slot. Where only a change
-- of server stands in the way (S48, as in take_lock.sql), it is an error that says so.
DROP PROCEDURE IF EXISTS /*!80000 allot_lock_take */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_lock_take(
  IN p_name LONGBLOB,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_token BIGINT UNSIGNED
)
MODIFIES SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: takes a named lock'
BEGIN
  DECLARE v_wanted, v_slots INT;
  DECLARE v_ttl_us, v_wait_s BIGINT;
  DECLARE v_live, v_lock_by BIGINT UNSIGNED;
  CALL allot_lock_name(p_name, 'taken');
  CALL allot_lock_options(p_options, v_wanted, v_ttl_us);
  SET v_slots = (SELECT slots FROM named_lock WHERE name = p_name AND slot = 0);
  IF v_slots IS NULL THEN
    BEGIN
      DECLARE CONTINUE HANDLER FOR 1062 BEGIN END;     -- somebody else has made it meanwhile
      INSERT INTO named_lock (name, slot, slots, epoch, state, expire_at, ttl_us, taken_at)
      SELECT p_name, slot, COALESCE(v_wanted, 1), slot, 'FREE', UTC_TIMESTAMP(6), 0, UTC_TIMESTAMP(6)
        FROM (SELECT 32 * high.n + low.n AS slot
                FROM (WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 31)
                      SELECT n FROM digit) AS high
                JOIN (WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 31)
                      SELECT n FROM digit) AS low) AS slot_of
       WHERE slot < COALESCE(v_wanted, 1)
       ORDER BY slot;
    END;
    SET v_slots = (SELECT slots FROM named_lock WHERE name = p_name AND slot = 0);
  END IF;
  IF v_wanted <> v_slots THEN
    CALL allot_refuse(CONCAT('slots ', v_wanted, ': the lock has ', v_slots,
                             '; ''allot lock resize'' changes that for all its users'));
  END IF;
  SET v_live = (SELECT COUNT(*) FROM lock_ticket
                 WHERE name = p_name AND expire_at > UTC_TIMESTAMP(6)
                   AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND);
  IF v_live = 0 THEN
    CALL allot_note_server();
    SET v_lock_by = GREATEST(1, CONV(LEFT(SHA2(CONCAT(UUID(), RAND()), 256), 16), 16, 10));
    UPDATE named_lock
       SET epoch = GREATEST(epoch + 1024,
                            (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), 0)
                             << 10) + slot),
           lock_by = v_lock_by,
           lock_host = LEFT(CONCAT('sql ', SESSION_USER()), 64),
           lock_pid = CONNECTION_ID() & 4294967295,
           state = 'LOCKED',
           expire_at = UTC_TIMESTAMP(6) + INTERVAL v_ttl_us MICROSECOND,
           ttl_us = v_ttl_us,
           taken_at = UTC_TIMESTAMP(6)
     WHERE name = p_name AND state = 'FREE' AND slot < slots
       AND (SELECT since FROM server_identity WHERE only_row = 1)
           <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + GREATEST(ttl_us, v_ttl_us) MICROSECOND
     ORDER BY slot LIMIT 1;
    SET p_token = (SELECT epoch FROM named_lock WHERE lock_by = v_lock_by);
    IF p_token IS NULL THEN
      SET v_wait_s = (SELECT MIN(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), since)
                                 + CEIL(GREATEST(ttl_us, v_ttl_us) / 1000000) + 1)
                        FROM named_lock JOIN server_identity ON only_row = 1
                       WHERE name = p_name AND state = 'FREE' AND slot < slots);
      IF v_wait_s > 0 THEN
        CALL allot_refuse(CONCAT('the database server has changed: nobody takes a free lock before ',
                                 'its ttl and 1 s are over, in ', v_wait_s, ' s'));
      END IF;
    END IF;
  END IF;
END;
