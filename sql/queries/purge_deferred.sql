-- Deletes notes whose tasks must all be due by now (S65). A task is noted again each time it is
-- deferred.
DELETE /*+ INDEX(deferred_type PRIMARY) */ FROM deferred_type
 WHERE queue_id >= 0
   AND to_key < (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR) << 12)
 LIMIT :limit;
