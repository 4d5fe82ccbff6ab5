-- The same as next_layout.sql for the targets of its routes until now.
UPDATE /*+ INDEX(queue PRIMARY) */ queue
   SET layout = layout + 1
 WHERE queue_id > 0
   AND (SELECT COUNT(*) FROM route
         WHERE route.queue_id = :source_id AND route.target_id = queue.queue_id) > 0;
