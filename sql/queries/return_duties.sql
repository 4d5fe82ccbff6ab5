-- Ends all terms of a holder that leaves. What is over already stays as it is. The
-- condition on queue_id is always true (that one is in nobody's queue); without one on a key,
-- sql_safe_updates refuses.
UPDATE /*+ INDEX(queue_duty PRIMARY) */ queue_duty
   SET free_at = LEAST(free_at, UTC_TIMESTAMP(6)),
       holder = NULL, holder_host = NULL, holder_instance = NULL, holder_pid = NULL, since = NULL
 WHERE queue_id < 4294967295 AND holder = :holder;
