-- Guard of a batch (S49): locks the action, and fails (1690, out of range) if it has changed since
-- it was read, or has ended. The server then does not reach the COMMIT after it in the same packet,
-- so that two processes that work on it, or a packet that is sent again, make one batch.
SELECT ~0 + (COUNT(*) = 0)
  FROM bulk_action
 WHERE action_id = :action_id AND batches = :batches AND ended_at IS NULL
   FOR UPDATE;
