-- The look for routes of any queue locks begin_routes.sql's row: such a route is set before, or finds the
-- new queue.
INSERT IGNORE INTO queue (name, partitions, placement, max_running, created_at, routed)
VALUES (:name, :partitions, :placement, :max_running, UTC_TIMESTAMP(6),
        (SELECT COALESCE(SUM(pattern <> ''), 0) > 0 FROM route WHERE queue_id = 0 LOCK IN SHARE MODE));
