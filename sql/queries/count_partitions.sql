SELECT COUNT(*) FROM q_lock_table WHERE queue_id = :queue_id;
