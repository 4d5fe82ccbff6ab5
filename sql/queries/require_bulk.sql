-- The guard of a batch (S49): locks the action, and fails (1690, out of range) unless it is as it was
-- seen, and not at its end. The server does not reach the COMMIT behind it in the same packet then, so
-- that two who work it off, or a packet that is sent again, make one batch.
SELECT ~0 + (COUNT(*) = 0)
  FROM bulk_action
 WHERE action_id = :action_id AND batches = :batches AND ended_at IS NULL
   FOR UPDATE;
