-- Keys that a clock that was ahead left reserved for too long are reserved for their own duration
-- from now on (S58), as reserve_key.sql does for keys that it finds. Never frees a key at once.
UPDATE /*+ INDEX(task_unique PRIMARY) */ task_unique
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND
 WHERE queue_id = :queue_id AND unique_key IN (:unique_keys)
   AND free_at > UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND;
