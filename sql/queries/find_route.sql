-- The queue that a route sends a task to. The routes of that queue are not asked (S45).
SELECT {queue_columns}
  FROM queue
 WHERE queue_id = :best_route
 LIMIT 1;
