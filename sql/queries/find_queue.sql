SELECT queue_id, name, partitions, placement, max_running, first_partition, layout, routed,
       superseded_by
  FROM queue
 WHERE name = :name;
