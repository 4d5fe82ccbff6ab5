-- Ends all terms of a leaving holder. Terms that are over stay unchanged. The condition on queue_id
-- is always true (no queue has that number); without one on a key, sql_safe_updates refuses.
UPDATE /*+ INDEX(queue_duty PRIMARY) */ queue_duty
   SET free_at = LEAST(free_at, UTC_TIMESTAMP(6)),
       holder = NULL, holder_host = NULL, holder_instance = NULL, holder_pid = NULL, since = NULL
 WHERE queue_id < 4294967295 AND holder = :holder;
