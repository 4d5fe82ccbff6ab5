-- The read of routes of any queue locks the row of begin_routes.sql: such a route is either set
-- before, or finds the new queue.
INSERT IGNORE INTO queue (name, partitions, placement, max_running, created_at, routed)
VALUES (:name, :partitions, :placement, :max_running, UTC_TIMESTAMP(6),
        (SELECT COALESCE(SUM(pattern <> ''), 0) > 0 FROM route WHERE queue_id = 0 LOCK IN SHARE MODE));
