-- The queue that a route sends a task to. Routes of that queue are not followed (S45).
SELECT {queue_columns}
  FROM queue
 WHERE queue_id = :best_route
 LIMIT 1;
