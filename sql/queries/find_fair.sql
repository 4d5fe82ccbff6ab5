-- Where the keys of a fair queue are, those that have a partition; not one that gets no more tasks
-- since a resize.
SELECT partition_key, partition_no
  FROM fair_partition
 WHERE queue_id = :queue_id AND partition_key IN (:partition_keys) AND partition_no < :partitions;
