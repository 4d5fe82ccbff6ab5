-- Partition of a key of a fair queue (A9), chosen as in find_fair.sql and assign_fair.sql. A new key
-- takes the partition with the fewest keys or, if each has some, the partition of a key without
-- tasks, which gives it up. Unlike those files it only uses plain reads for that, and does not
-- serialize new keys, because the caller's transaction may be long. If it read old data, two keys
-- share a partition unnecessarily.
{procedure allot_fair}(
  IN p_queue_id INT UNSIGNED,
  IN p_partitions SMALLINT UNSIGNED,
  IN p_partition_key VARBINARY(255),
  OUT p_partition_no SMALLINT UNSIGNED
)
{internal MODIFIES SQL DATA}
allot_fair: BEGIN
  DECLARE v_sharing INT DEFAULT 0;
  DECLARE v_quiet_key VARBINARY(255);
  DECLARE v_quiet_partition_no SMALLINT UNSIGNED;
  -- SELECT, because the subquery of a SET locks the row until the caller's transaction ends.
  SELECT MAX(partition_no)
    INTO p_partition_no
    FROM fair_partition
   WHERE queue_id = p_queue_id AND partition_key = p_partition_key AND partition_no < p_partitions;
  IF p_partition_no IS NOT NULL THEN
    LEAVE allot_fair;
  END IF;
  SELECT lease.partition_no, COALESCE(taken.sharing, 0)
    INTO p_partition_no, v_sharing
    FROM q_lock_table AS lease
    LEFT JOIN (SELECT partition_no, COUNT(*) AS sharing
                 FROM fair_partition
                WHERE queue_id = p_queue_id AND partition_key > ''
                GROUP BY partition_no) AS taken
      ON taken.partition_no = lease.partition_no
   WHERE lease.queue_id = p_queue_id AND lease.partition_no < p_partitions
   ORDER BY COALESCE(taken.sharing, 0), lease.partition_no
   LIMIT 1;
  IF v_sharing > 0 THEN
    -- Reads the key and its partition in one statement: another caller may remove both at any time.
    SELECT partition_key, partition_no
      INTO v_quiet_key, v_quiet_partition_no
      FROM fair_partition
     WHERE queue_id = p_queue_id AND partition_key > '' AND partition_no < p_partitions
       AND NOT EXISTS (SELECT 1 FROM task
                        WHERE task.queue_id = p_queue_id
                          AND task.partition_no = fair_partition.partition_no)
     LIMIT 1;
  END IF;
  IF v_quiet_key IS NOT NULL THEN
    SET p_partition_no = v_quiet_partition_no;
    DELETE FROM fair_partition WHERE queue_id = p_queue_id AND partition_key = v_quiet_key;
  END IF;
  INSERT INTO fair_partition (queue_id, partition_key, partition_no)
  VALUES (p_queue_id, p_partition_key, p_partition_no)
      ON DUPLICATE KEY UPDATE  -- an old snapshot, or a partition that a resize retired
         partition_no = IF(fair_partition.partition_no < p_partitions,
                           fair_partition.partition_no, p_partition_no);
  SELECT partition_no INTO p_partition_no
    FROM fair_partition
   WHERE queue_id = p_queue_id AND partition_key = p_partition_key
     FOR UPDATE;
END;
