-- For notices: queues with more than :before dead tasks; the count stops there.
SELECT queue.name
  FROM queue
 WHERE (SELECT 1 FROM task_dead WHERE task_dead.queue_id = queue.queue_id LIMIT 1 OFFSET :before) = 1
 ORDER BY queue.name;
