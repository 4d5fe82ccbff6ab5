-- Ends an action whose next batch cannot be made, unless another process has made it since.
UPDATE bulk_action
   SET state = 'failed', error = :error, ended_at = UTC_TIMESTAMP(6)
 WHERE action_id = :action_id AND batches = :batches AND ended_at IS NULL;
