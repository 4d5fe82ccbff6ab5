-- The queue for a task of :type submitted to the ordered or limited queue :source_id, until the
-- transaction ends: locking reads, because the transaction's view may be older. Routes as in
-- best_route.sql, but only the queue's own ones, because a route of any queue never leads to such a
-- queue.
SELECT {queue_columns}
  FROM queue
 WHERE queue_id = (SELECT route.target_id
                     FROM route
                    WHERE route.queue_id = :source_id
                      AND route.pattern = IF(route.is_prefix, LEFT(:type, CHAR_LENGTH(route.pattern)),
                                             :type)
                    ORDER BY route.is_prefix, CHAR_LENGTH(route.pattern) DESC
                    LIMIT 1
                     LOCK IN SHARE MODE)
 LIMIT 1
  LOCK IN SHARE MODE;
