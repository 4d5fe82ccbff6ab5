-- The same as next_layout.sql for the queues that its routes lead to so far.
UPDATE /*+ INDEX(queue PRIMARY) */ queue
   SET layout = layout + 1
 WHERE queue_id > 0
   AND queue_id IN (SELECT target_id FROM route WHERE route.queue_id = :source_id);
