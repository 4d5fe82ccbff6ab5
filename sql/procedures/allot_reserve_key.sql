-- Makes one task with a unique key, inside a transaction: reserves the key first, as in
-- queries/reserve_key.sql, and makes the task if the reservation is ours. All or nothing.
-- Rule: S58.
{procedure allot_reserve_key}(
  {key_parameters}
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_tries INT DEFAULT 0;
  DECLARE v_done BOOLEAN DEFAULT FALSE;
  DECLARE v_partition_no SMALLINT UNSIGNED DEFAULT p_partition_no;
  DECLARE v_prio TINYINT UNSIGNED DEFAULT p_prio;
  DECLARE v_queue_id INT UNSIGNED DEFAULT p_queue_id;
  DECLARE v_reservation, v_owner BIGINT UNSIGNED;
  {all_or_nothing allot_reserve_key};
  WHILE NOT v_done DO
    BEGIN
      DECLARE EXIT HANDLER FOR 1062
      BEGIN
        SET v_tries = v_tries + 1;
        IF v_tries = 8 THEN RESIGNAL; END IF;
        ROLLBACK TO SAVEPOINT allot_reserve_key;
      END;
      CALL allot_key(p_delay_us, p_run_at_us, p_first_key);
      SET v_reservation = UUID_SHORT();
      INSERT INTO task_unique (queue_id, unique_key, partition_no, prio, first_key, reservation,
                               unique_for_us)
      VALUES (p_queue_id, p_unique_key, v_partition_no, v_prio, p_first_key, v_reservation,
              p_unique_for_us)
          ON DUPLICATE KEY UPDATE
             partition_no = IF(free_at <= UTC_TIMESTAMP(6), VALUES(partition_no), partition_no),
             prio = IF(free_at <= UTC_TIMESTAMP(6), VALUES(prio), prio),
             first_key = IF(free_at <= UTC_TIMESTAMP(6), VALUES(first_key), first_key),
             reservation = IF(free_at <= UTC_TIMESTAMP(6), VALUES(reservation), reservation),
             unique_for_us = IF(free_at <= UTC_TIMESTAMP(6), VALUES(unique_for_us), unique_for_us),
             free_at = IF(free_at <= UTC_TIMESTAMP(6), NULL,
                          LEAST(free_at, UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND));
      -- FOR UPDATE, because the caller's snapshot may be too old.
      SELECT partition_no, prio, first_key, reservation
        INTO p_partition_no, p_prio, p_first_key, v_owner
        FROM task_unique
       WHERE queue_id = p_queue_id AND unique_key = p_unique_key
         FOR UPDATE;
      SET p_existed = v_owner <> v_reservation;
      IF NOT p_existed THEN
        IF p_layout IS NOT NULL THEN  -- like queries/placed_queue.sql
          SELECT queue_id + ~0 * (layout <> p_layout)
            INTO v_queue_id FROM queue WHERE queue_id = p_queue_id LOCK IN SHARE MODE;
        END IF;
        INSERT INTO task (queue_id, partition_no, prio, run_key, expires_at, flags, key_hash, type,
                          payload, headers)
        VALUES (v_queue_id, p_partition_no, p_prio, p_first_key, p_expires_at, p_flags | 2,
                p_key_hash, p_type, p_payload, p_headers);
      END IF;
      SET v_done = TRUE;
    END;
  END WHILE;
  RELEASE SAVEPOINT allot_reserve_key;
END;
