-- For a paused queue only the reason changes.
INSERT INTO queue_pause (queue_id, paused_at, reason)
VALUES (:queue_id, UTC_TIMESTAMP(6), :reason)
    ON DUPLICATE KEY UPDATE reason = VALUES(reason);
