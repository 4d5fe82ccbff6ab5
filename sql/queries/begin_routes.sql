-- Runs before set_route.sql, remove_route.sql and settle_routes.sql in one transaction: allows one
-- change of routes at a time, and no new queue at the same time (create_queue.sql).
INSERT INTO route (queue_id, is_prefix, pattern, target_id, set_at)
VALUES (0, 0, '', 0, UTC_TIMESTAMP(6))
    ON DUPLICATE KEY UPDATE target_id = 0;
