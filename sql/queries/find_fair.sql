-- Partitions of those keys of a fair queue that have one, except partitions retired by a resize.
SELECT partition_key, partition_no
  FROM fair_partition
 WHERE queue_id = :queue_id AND partition_key IN (:partition_keys) AND partition_no < :partitions
 LIMIT 18446744073709551615;
