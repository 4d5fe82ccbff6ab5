-- Reads a holder once, then sleeps for a tenth of a second. p_slept counts the sleeps during which
-- slot p_slot has stayed unchanged, at (p_epoch, p_expire_at). After its TTL plus a second of them,
-- the slot is freed like in free_lock.sql (S38, S48). S67: a step of the server's clock ends the
-- sleep during which it happens, so a sleep counts only if this clock advanced by about its length.
-- The second is for ten steps that are too small to be noticed. Prefers a slot whose expire_at is
-- past, or further ahead than any renewal by this clock, to one that looks alive.
{procedure allot_lock_watch}(
  IN p_name LONGBLOB,
  INOUT p_slot INT,
  INOUT p_epoch BIGINT UNSIGNED,
  INOUT p_expire_at DATETIME(6),
  INOUT p_slept BIGINT
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_ttl_us BIGINT;
  DECLARE v_asleep DATETIME(6);
  SET v_ttl_us = (SELECT ttl_us FROM named_lock
                   WHERE name = p_name AND slot = p_slot AND state <> 'FREE'
                     AND epoch = p_epoch AND expire_at = p_expire_at);
  IF v_ttl_us IS NULL THEN
    BEGIN
      DECLARE CONTINUE HANDLER FOR NOT FOUND SET p_slot = NULL;
      SET p_slept = 0;
      SELECT slot, epoch, expire_at INTO p_slot, p_epoch, p_expire_at
        FROM named_lock WHERE name = p_name AND state <> 'FREE' AND slot < slots
       ORDER BY expire_at BETWEEN UTC_TIMESTAMP(6) AND UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND,
                expire_at, slot
       LIMIT 1;
    END;
  ELSEIF p_slept * 100000 >= 1000000 + v_ttl_us THEN
    CALL allot_note_server();
    UPDATE named_lock
       SET state = 'FREE', epoch = epoch + 1024, expire_at = UTC_TIMESTAMP(6),
           lock_by = NULL, lock_host = NULL, lock_pid = NULL
     WHERE name = p_name AND slot = p_slot AND state <> 'FREE'
       AND epoch = p_epoch AND expire_at = p_expire_at
       AND (SELECT since FROM server_identity WHERE only_row = 1)
           <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + ttl_us MICROSECOND
       AND (0 OR EXISTS (SELECT 1 FROM (SELECT 1 FROM named_lock
                                         WHERE name = p_name AND slot = p_slot
                                         LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked));
  END IF;
  SET v_asleep = SYSDATE(6);
  DO SLEEP(0.1);
  IF TIMESTAMPDIFF(MICROSECOND, v_asleep, SYSDATE(6)) BETWEEN 100000 AND 200000 THEN
    SET p_slept = p_slept + 1;
  END IF;
END;
