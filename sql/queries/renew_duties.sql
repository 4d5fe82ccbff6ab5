-- Goes on with terms, also with one that is over and that nobody has claimed. As many rows as duties:
-- all are the holder's yet. Writes what it did since the last time, so that nothing else is sent for
-- that: :ran is a condition, of the duties that went well, and :failed a WHEN for each that did not.
UPDATE /*+ INDEX(queue_duty PRIMARY) */ queue_duty
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       last_run = IF(:ran, UTC_TIMESTAMP(6), last_run),
       last_error = CASE :failed WHEN :ran THEN NULL ELSE last_error END
 WHERE (:duties) AND holder = :holder;
