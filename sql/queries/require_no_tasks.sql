-- Fence of a change of the routes of an ordered or limited queue, after next_layout.sql: fails
-- (1690, out of range) if a task of these types is in the queue, or in a target of its routes until
-- now, since later tasks of its key would not wait for it; or if one of these queues is being
-- resized, because a layout that waits is identified by its number (defer_layout.sql).
SELECT ~0 + (COUNT(*) > 0)
  FROM queue
 WHERE (queue.queue_id = :source_id
        OR queue.queue_id IN (SELECT target_id FROM route WHERE route.queue_id = :source_id))
   AND (EXISTS (SELECT 1 FROM task
                 WHERE task.queue_id = queue.queue_id
                   AND :pattern = IF(:is_prefix, LEFT(task.type, CHAR_LENGTH(:pattern)), task.type))
        OR EXISTS (SELECT 1 FROM q_lock_table AS lease
                    WHERE lease.queue_id = queue.queue_id AND lease.defer_until >= '9000-01-01'));
