-- Partition of a task, chosen like Placer::partition_no() in daemon/queue/submit/placement.cc.
{procedure allot_place}(
  IN p_queue_id INT UNSIGNED,
  IN p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_placement VARCHAR(15) CHARACTER SET utf8mb4,
  IN p_partitions SMALLINT UNSIGNED,
  IN p_first_partition SMALLINT UNSIGNED,
  IN p_max_running SMALLINT UNSIGNED,
  IN p_partition_key VARBINARY(255),
  IN p_spread INT UNSIGNED,
  OUT p_partition_no SMALLINT UNSIGNED
)
{internal MODIFIES SQL DATA}
BEGIN
  IF p_placement = 'spread' AND p_partition_key IS NOT NULL THEN
    CALL allot_refuse(CONCAT('partition_key: queue ', QUOTE(p_queue), ' is neither ordered nor',
                             ' limited nor fair'));
  END IF;
  IF p_placement <> 'spread' AND p_partition_key IS NULL THEN
    CALL allot_refuse(CONCAT('queue ', QUOTE(p_queue), ' is ', p_placement,
                             ': its tasks need a partition_key'));
  END IF;
  CASE p_placement
    WHEN 'ordered' THEN SET p_partition_no = p_first_partition + CRC32(p_partition_key) % p_partitions;
    WHEN 'limited' THEN SET p_partition_no = p_first_partition + (CRC32(p_partition_key) % p_partitions
                              + p_spread % LEAST(p_max_running, p_partitions)) % p_partitions;
    WHEN 'fair' THEN CALL allot_fair(p_queue_id, p_partitions, p_partition_key, p_partition_no);
    ELSE SET p_partition_no = p_spread % p_partitions;
  END CASE;
END;
