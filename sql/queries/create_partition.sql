INSERT IGNORE INTO q_lock_table (queue_id, partition_no, expire_at) VALUES :rows;
