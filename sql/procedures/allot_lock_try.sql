-- Takes a slot if one is free and no client waits. One statement, so that it leaves nothing open.
-- Both are read before it: take_lock.sql locks a ticket first and then the slot, and the row of a
-- holder may be locked (allot_lock_require). If only a server change prevents it (S48, as in
-- take_lock.sql), fails with an error that says so.
{procedure allot_lock_try}(
  IN p_name LONGBLOB,
  IN p_ttl_us BIGINT,
  OUT p_token BIGINT UNSIGNED
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_wait_s BIGINT;
  DECLARE v_live, v_lock_by BIGINT UNSIGNED;
  SET v_live = (SELECT COUNT(*) FROM lock_ticket
                 WHERE name = p_name AND expire_at > UTC_TIMESTAMP(6)
                   AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND);
  IF v_live = 0
     AND EXISTS (SELECT 1 FROM named_lock WHERE name = p_name AND state = 'FREE' AND slot < slots) THEN
    CALL allot_note_server();
    SET v_lock_by = GREATEST(1, CONV(LEFT(SHA2(CONCAT(UUID(), RAND()), 256), 16), 16, 10));
    UPDATE named_lock
       SET epoch = GREATEST(epoch + 1024,
                            (GREATEST({now}, 0)
                             << 10) + slot),
           lock_by = v_lock_by,
           lock_host = LEFT(CONCAT('sql ', SESSION_USER()), 64),
           lock_pid = CONNECTION_ID() & 4294967295,
           state = 'LOCKED',
           expire_at = UTC_TIMESTAMP(6) + INTERVAL p_ttl_us MICROSECOND,
           ttl_us = p_ttl_us,
           taken_at = UTC_TIMESTAMP(6)
     WHERE name = p_name AND state = 'FREE' AND slot < slots
       AND (SELECT since FROM server_identity WHERE only_row = 1)
           <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + GREATEST(ttl_us, p_ttl_us) MICROSECOND
     ORDER BY slot LIMIT 1;
    SET p_token = (SELECT epoch FROM named_lock WHERE lock_by = v_lock_by);
    IF p_token IS NULL THEN
      SET v_wait_s = (SELECT MIN(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), since)
                                 + CEIL(GREATEST(ttl_us, p_ttl_us) / 1000000) + 1)
                        FROM named_lock JOIN server_identity ON only_row = 1
                       WHERE name = p_name AND state = 'FREE' AND slot < slots);
      IF v_wait_s > 0 THEN
        CALL allot_refuse(CONCAT('the database server has changed: a free lock cannot be taken before ',
                                 'its ttl and 1 s are over, in ', v_wait_s, ' s'));
      END IF;
    END IF;
  END IF;
END;
