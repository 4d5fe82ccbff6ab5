-- For a paused queue only the reason changes. A rated one has its row already (set_rate.sql): its
-- reason is what makes it a paused one, too.
INSERT INTO queue_pause (queue_id, paused_at, reason)
VALUES (:queue_id, UTC_TIMESTAMP(6), :reason)
    ON DUPLICATE KEY UPDATE paused_at = IF(paused, paused_at, VALUES(paused_at)),
                            reason = VALUES(reason);
