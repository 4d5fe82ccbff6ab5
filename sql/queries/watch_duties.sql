-- Some duties, as a host that may lead them sees them. The fifth column: the term is over, and
-- whoever wants may claim it. That is also so when it ends later than any term that begins now: the
-- clock was set back. The second is for a term that began while this statement did. The sixth: for
-- how long it lasts yet; the last: how long ago the duty was done.
SELECT queue_id, duty, holder, free_at,
       free_at <= UTC_TIMESTAMP(6)
         OR free_at > UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND + INTERVAL 1 SECOND,
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), free_at)),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, last_run, UTC_TIMESTAMP(6)))
  FROM queue_duty
 WHERE :duties;
