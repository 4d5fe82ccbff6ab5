-- Says in the row of each queue whether a submission to it has to look for a route. It waits for the
-- transactions that submitted to a queue whose row it changes, and for no others.
UPDATE /*+ INDEX(queue PRIMARY) */ queue
   SET routed = (SELECT COUNT(*) > 0 FROM route
                  WHERE route.queue_id = queue.queue_id
                     OR route.queue_id = 0 AND route.pattern <> '')
 WHERE queue_id > 0
   AND COALESCE(routed, 2) <> (SELECT COUNT(*) > 0 FROM route
                                WHERE route.queue_id = queue.queue_id
                                   OR route.queue_id = 0 AND route.pattern <> '');
