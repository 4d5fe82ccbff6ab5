-- A viewer shows workers: takes the duty of viewers from its leader for a term. Stewards see that
-- in statements that they send for their duties anyway.
UPDATE queue_duty
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       holder = NULL, holder_host = NULL, holder_instance = NULL, holder_pid = NULL, since = NULL
 WHERE queue_id = 0 AND duty = :duty;
