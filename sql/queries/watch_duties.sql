-- Duties for a host that may lead them. The fifth column: the term is over and may be taken. That
-- is also so if it ends later than any term that begins now: the clock was set back. The second is
-- for a term that began during this statement. The sixth: remaining time; the last: time since the
-- duty was last done.
SELECT queue_id, duty, holder, free_at,
       free_at <= UTC_TIMESTAMP(6)
         OR free_at > UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND + INTERVAL 1 SECOND,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), free_at)),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, last_run, UTC_TIMESTAMP(6)))
  FROM queue_duty
 WHERE :duties;
