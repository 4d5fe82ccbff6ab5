INSERT IGNORE INTO queue (name, partitions, placement, max_running, created_at)
VALUES (:name, :partitions, :placement, :max_running, UTC_TIMESTAMP(6));
