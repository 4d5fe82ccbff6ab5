-- Deletes an attempt that was written before it ran (S7) and is not charged: runs with snooze and
-- refund, in the same transaction.
DELETE FROM task_attempt
 WHERE {this_id} AND retries_since = 0 AND attempt = :attempt
   AND {fence};
