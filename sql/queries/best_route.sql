-- The queue for a task of :type submitted to queue :source_id (0: to none), or NULL. Chooses among
-- routes for find_route.sql, hook_dead.sql and hook_detached.sql: an exact type before a prefix,
-- longer prefixes first, and the queue's own route before one of any queue. A route of any queue
-- applies to queues with the same placement as its target; if it is also for any type, only to
-- tasks submitted without a queue.
(SELECT route.target_id
   FROM route
  WHERE route.queue_id IN (0, :source_id)
    AND route.pattern = IF(route.is_prefix, LEFT(:type, CHAR_LENGTH(route.pattern)), :type)
    AND (route.queue_id = :source_id
         OR route.pattern <> ''
            AND (SELECT taker.placement FROM queue AS taker
                  WHERE taker.queue_id = route.target_id) = :source_placement)
  ORDER BY route.is_prefix, CHAR_LENGTH(route.pattern) DESC, route.queue_id DESC
  LIMIT 1)
