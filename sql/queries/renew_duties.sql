-- Extends terms, also one that is over and not taken. As many rows as duties: the holder still
-- has all. Also writes the work since the last renewal, so that nothing else is sent for it: :ran
-- is a condition for the duties that succeeded, and :failed a WHEN for each that failed.
-- Rule: S46.
UPDATE /*+ INDEX(queue_duty PRIMARY) */ queue_duty
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       last_run = IF(:ran, UTC_TIMESTAMP(6), last_run),
       last_error = CASE :failed WHEN :ran THEN NULL ELSE last_error END
 WHERE (:duties) AND holder = :holder;
