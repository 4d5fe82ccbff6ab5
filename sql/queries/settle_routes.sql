-- Sets in the row of each queue whether a submission to it has to look for a route. Waits only for
-- transactions that submitted to a queue whose row changes.
UPDATE /*+ INDEX(queue PRIMARY) */ queue
   SET routed = (SELECT COUNT(*) > 0 FROM route
                  WHERE route.queue_id = queue.queue_id
                     OR route.queue_id = 0 AND route.pattern <> '')
 WHERE queue_id > 0
   AND COALESCE(routed, 2) <> (SELECT COUNT(*) > 0 FROM route
                                WHERE route.queue_id = queue.queue_id
                                   OR route.queue_id = 0 AND route.pattern <> '');
