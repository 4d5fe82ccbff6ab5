-- Sets next_run back to the first tick from now on, after the clock was ahead (S57). The version
-- must be the one that was checked, and increases, so that ticks computed before this are refused
-- (S35). Does nothing if the clock has advanced by more than the tolerance since: it was behind
-- then, and is right again.
UPDATE schedule
   SET version = GREATEST(version + 1, {now}),
       next_run = :next_run, due_at = :due_at,
       resumed_at = LEAST(resumed_at, UTC_TIMESTAMP(6))
 WHERE schedule_id = :schedule_id AND version = :version AND next_run = :seen_next_run
   AND :next_run > UTC_TIMESTAMP(6) - INTERVAL :tolerance_us MICROSECOND
   AND paused_at IS NULL;
