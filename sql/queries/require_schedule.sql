-- Runs before a task requested for now: locks the schedule, and fails (1690, out of range) if it
-- was changed since it was read, or is gone.
SELECT ~0 + (COUNT(*) = 0)
  FROM schedule
 WHERE schedule_id = :schedule_id AND version = :version
   FOR UPDATE;
