-- A new duty is free at once. An existing one stays unchanged.
INSERT IGNORE INTO queue_duty (queue_id, duty, free_at)
VALUES (:queue_id, :duty, '2025-01-01');
