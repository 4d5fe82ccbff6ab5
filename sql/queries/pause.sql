-- For a paused queue only the reason changes. A rated queue already has a row (set_rate.sql): its
-- reason also makes it a paused one.
INSERT INTO queue_pause (queue_id, paused_at, reason)
VALUES (:queue_id, UTC_TIMESTAMP(6), :reason)
    ON DUPLICATE KEY UPDATE paused_at = IF(paused, paused_at, VALUES(paused_at)),
                            reason = VALUES(reason);
