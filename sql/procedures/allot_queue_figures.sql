-- Returns one row with figures of a queue, for adapters of frameworks: see docs/sql-api.md. Each
-- count stops at 10,000. In each class of a partition, due tasks and later ones are two ranges of
-- the primary key, so at most 20,000 rows of a queue are read, besides one for each partition and
-- class.
{procedure allot_queue_figures}(
  IN p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
)
READS SQL DATA SQL SECURITY DEFINER
COMMENT 'Allot: figures of a queue'
BEGIN
  DECLARE v_queue_id INT UNSIGNED;
  DECLARE v_last, v_partition_no, v_prio, v_bound INT DEFAULT 0;
  DECLARE v_now, v_head, v_oldest BIGINT UNSIGNED;
  DECLARE v_waiting, v_delayed, v_found, v_left INT DEFAULT 0;
  SET v_bound = 10000;
  SELECT queue_id
    INTO v_queue_id
    FROM queue WHERE name = p_queue AND LENGTH(name) = LENGTH(p_queue);  -- padding would match
  IF v_queue_id IS NULL THEN
    CALL allot_refuse(CONCAT('queue ', COALESCE(QUOTE(LEFT(p_queue, 63)), 'NULL'),
                             ': unknown queue'));
  END IF;
  SET v_now = (({now} + 1) << 12) - 1;
  SELECT MAX(partition_no) INTO v_last FROM q_lock_table WHERE queue_id = v_queue_id;
  WHILE v_partition_no <= v_last DO
    SET v_prio = 0;
    WHILE v_prio < 4 DO
      SET v_left = v_bound - v_waiting, v_head = NULL;
      SELECT COUNT(*), MIN(run_key)
        INTO v_found, v_head
        FROM (SELECT run_key FROM task FORCE INDEX (PRIMARY)
               WHERE queue_id = v_queue_id AND partition_no = v_partition_no AND prio = v_prio
                 AND run_key <= v_now
               ORDER BY queue_id, partition_no, prio, run_key
               LIMIT v_left) AS due;
      SET v_waiting = v_waiting + v_found,
          v_oldest = LEAST(COALESCE(v_oldest, v_head), COALESCE(v_head, v_oldest)),
          v_left = v_bound - v_delayed;
      SELECT COUNT(*)
        INTO v_found
        FROM (SELECT 1 FROM task FORCE INDEX (PRIMARY)
               WHERE queue_id = v_queue_id AND partition_no = v_partition_no AND prio = v_prio
                 AND run_key > v_now
               LIMIT v_left) AS far;
      SET v_delayed = v_delayed + v_found, v_prio = v_prio + 1;
    END WHILE;
    SET v_partition_no = v_partition_no + 1;
  END WHILE;
  -- The number is 2025-01-01 in seconds since 1970. `delayed` is a reserved word in MariaDB.
  SELECT v_waiting AS waiting, v_delayed AS `delayed`,
         1735689600 + (v_oldest >> 12) DIV 1000000 AS oldest_due,
         (SELECT COUNT(*)
            FROM (SELECT 1 FROM task_running WHERE queue_id = v_queue_id LIMIT 10000) AS apart) AS detached,
         (SELECT COUNT(*) FROM q_lock_table
           WHERE queue_id = v_queue_id AND state <> 'FREE') AS leased_partitions,
         (SELECT COUNT(*)
            FROM (SELECT 1 FROM task_dead WHERE queue_id = v_queue_id LIMIT 10000) AS dead) AS dead;
END;
