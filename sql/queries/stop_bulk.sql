-- A concurrent batch commits before it, or fails (require_bulk.sql).
UPDATE bulk_action
   SET state = 'stopped', stopped_by = :stopped_by, ended_at = UTC_TIMESTAMP(6)
 WHERE action_id = :action_id AND ended_at IS NULL;
