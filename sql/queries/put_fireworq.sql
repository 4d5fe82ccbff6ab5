-- Makes, changes or restores a queue of Fireworq's programs. Ends only the pause by which it was
-- hidden (hide_fireworq.sql, resume.sql).
INSERT INTO fireworq_queue (queue_id, name, polling_interval, max_dispatches_per_second,
                            max_burst_size)
VALUES (:queue_id, :name, :polling_interval, :rate, :burst)
    ON DUPLICATE KEY UPDATE polling_interval = VALUES(polling_interval),
       max_dispatches_per_second = VALUES(max_dispatches_per_second),
       max_burst_size = VALUES(max_burst_size), hidden_at = NULL;
UPDATE queue_pause SET reason = :rated_only
 WHERE queue_id = :queue_id AND rated AND reason = :hidden;
DELETE FROM queue_pause WHERE queue_id = :queue_id AND NOT rated AND reason = :hidden;
