-- Notes of which no task can be left that is not due (S65). Each time a task is put back it is noted
-- again.
DELETE /*+ INDEX(deferred_type PRIMARY) */ FROM deferred_type
 WHERE queue_id >= 0
   AND to_key < (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR) << 12)
 LIMIT :most;
