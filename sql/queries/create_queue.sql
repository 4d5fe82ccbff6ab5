INSERT IGNORE INTO queue (name, partitions, created_at) VALUES (:name, :partitions, UTC_TIMESTAMP(6));
