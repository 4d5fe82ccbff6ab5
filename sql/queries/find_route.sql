-- The queue that a route sends a task to. The routes of that queue are not asked (S45).
SELECT queue_id, name, partitions, placement, max_running, first_partition, layout, routed,
       superseded_by
  FROM queue
 WHERE queue_id = :best_route
 LIMIT 1;
