-- Before set_route.sql, remove_route.sql and settle_routes.sql in one transaction: one change of the
-- routes at a time, and no queue is made meanwhile (create_queue.sql).
INSERT INTO route (queue_id, is_prefix, pattern, target_id, set_at)
VALUES (0, 0, '', 0, UTC_TIMESTAMP(6))
    ON DUPLICATE KEY UPDATE target_id = 0;
