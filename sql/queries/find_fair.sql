-- Where the keys of a fair queue are, those that have a partition.
SELECT partition_key, partition_no
  FROM fair_partition
 WHERE queue_id = :queue_id AND partition_key IN (:partition_keys);
