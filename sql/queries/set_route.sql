INSERT INTO route (queue_id, is_prefix, pattern, target_id, set_at)
VALUES (:source_id, :is_prefix, :pattern, :target_id, UTC_TIMESTAMP(6))
    ON DUPLICATE KEY UPDATE target_id = VALUES(target_id), set_at = VALUES(set_at);
