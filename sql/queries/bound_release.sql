-- A partition released in the future, by a clock that was ahead, counts as released now (S60):
-- scout.sql takes the longest released first. Its waits keep their duration, from now on.
-- expire_at comes last, because the wait depends on its former value.
UPDATE q_lock_table
   SET defer_until = IF(defer_until < '9000-01-01',
                       UTC_TIMESTAMP(6) + INTERVAL GREATEST(TIMESTAMPDIFF(MICROSECOND, expire_at, defer_until), 0)
                         MICROSECOND, defer_until),
       expire_at = UTC_TIMESTAMP(6)
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND state = 'FREE' AND expire_at > UTC_TIMESTAMP(6) + INTERVAL 1 SECOND;
