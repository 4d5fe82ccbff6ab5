-- Part of write_audit.sql: an existing route. Routes belong to no queue.
SELECT NULL AS of_queue, NULL AS into_queue, NULL AS how_many
  FROM route
 WHERE queue_id = :source_id AND is_prefix = :is_prefix AND pattern = :pattern AND target_id > 0
