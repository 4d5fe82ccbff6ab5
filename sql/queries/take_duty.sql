-- For this time nobody else has the duty. The worker that takes it does not give it back: it is
-- free after its time.
UPDATE queue_duty
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL :for_us MICROSECOND
 WHERE queue_id = :queue_id AND duty = :duty AND free_at <= UTC_TIMESTAMP(6);
