-- For so long nobody else does it. Who takes it gives nothing back: it is free after its time.
UPDATE queue_duty
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL :for_us MICROSECOND
 WHERE queue_id = :queue_id AND duty = :duty AND free_at <= UTC_TIMESTAMP(6);
