-- The queue that takes a task of :type which is submitted to queue :source_id (0: to none), or NULL. The
-- one choice among routes, as a part of find_route.sql, hook_dead.sql and hook_detached.sql: an exact
-- type before a prefix, the longest of these first, and the queue's own route before one of any
-- queue. A route of any queue takes from queues that place their tasks as its target does; if it is for
-- any type as well, only what names no queue.
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
