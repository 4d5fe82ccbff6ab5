-- Duties for people, the cluster's first, without the duty of viewers. The fourth column: it has a
-- leader, as in watch_duties.sql; the last: seconds without a leader, NULL if the row cannot tell,
-- because the clock was set back or because a duty without a holder ends later than now.
SELECT duty.queue_id, queue.name, duty.duty,
       duty.holder IS NOT NULL AND duty.free_at > UTC_TIMESTAMP(6)
         AND duty.free_at <= UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND + INTERVAL 1 SECOND,
       duty.holder_host, duty.holder_instance, duty.holder_pid,
       {moment duty.since},
       {moment duty.last_run}, duty.last_error,
       IF(duty.free_at <= UTC_TIMESTAMP(6),
          TIMESTAMPDIFF(SECOND, duty.free_at, UTC_TIMESTAMP(6)), NULL)
  FROM queue_duty AS duty
  LEFT JOIN queue ON queue.queue_id = duty.queue_id
 WHERE duty.duty <> :viewers
 ORDER BY duty.queue_id, duty.duty;
