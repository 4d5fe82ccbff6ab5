-- Guard of a tick (S33): locks the schedule, and fails (1690, out of range) unless it is unchanged,
-- not paused, and due. The server then does not reach the COMMIT after it in the same packet, so
-- that two leaders, or a packet that is sent again, make one task. Version: the submission is the
-- current one of the schedule (S35). next_run: this tick has not been made yet, and next_run only
-- increases (S34). due_at: by this clock, whatever the host's is (S37).
SELECT ~0 + (COUNT(*) = 0)
  FROM schedule
 WHERE schedule_id = :schedule_id
   AND version = :version
   AND next_run = :seen_next_run
   AND (:next_run IS NULL OR next_run < :next_run)
   AND due_at <= UTC_TIMESTAMP(6)
   AND paused_at IS NULL
   FOR UPDATE;
