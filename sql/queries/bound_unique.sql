-- Keys that a clock that was ahead left taken for longer than their time are taken for that time from
-- now on (S58), as claim_unique.sql does for a key that it meets. Never free at once.
UPDATE /*+ INDEX(task_unique PRIMARY) */ task_unique
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL keep_us MICROSECOND
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys)
   AND free_at > UTC_TIMESTAMP(6) + INTERVAL keep_us MICROSECOND;
