SELECT queue_id, name, partitions, placement, max_running, first_partition, layout
  FROM queue
 WHERE name = :name;
