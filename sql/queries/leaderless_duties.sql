-- For notices: duties that were not returned by their leader and have no leader since. :for_us is
-- several terms. A duty whose leader left in order is not wanted by any host.
SELECT queue_duty.duty, queue.name, TIMESTAMPDIFF(SECOND, queue_duty.free_at, UTC_TIMESTAMP(6))
  FROM queue_duty
  LEFT JOIN queue ON queue.queue_id = queue_duty.queue_id
 WHERE queue_duty.holder IS NOT NULL
   AND queue_duty.free_at < UTC_TIMESTAMP(6) - INTERVAL :for_us MICROSECOND
 ORDER BY queue_duty.queue_id, queue_duty.duty;
