DELETE FROM route
 WHERE queue_id = :source_id AND is_prefix = :is_prefix AND pattern = :pattern AND target_id > 0;
