-- For notices: duties whose leader did not give them back, and that nobody leads since. :for_us is some
-- terms. A duty without a leader that left in order is one that nobody wants.
SELECT queue_duty.duty, queue.name, TIMESTAMPDIFF(SECOND, queue_duty.free_at, UTC_TIMESTAMP(6))
  FROM queue_duty
  LEFT JOIN queue ON queue.queue_id = queue_duty.queue_id
 WHERE queue_duty.holder IS NOT NULL
   AND queue_duty.free_at < UTC_TIMESTAMP(6) - INTERVAL :for_us MICROSECOND
 ORDER BY queue_duty.queue_id, queue_duty.duty;
