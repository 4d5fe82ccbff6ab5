-- A release ends the epoch (S1): a renewal after it finds nothing. A partition of an ordered queue
-- may have to wait for its first task, whose key is stored: the wait ends when that task is gone
-- (S16).
UPDATE q_lock_table
   SET state = 'FREE', detail_epoch = epoch + 1, epoch = epoch + 1, expire_at = UTC_TIMESTAMP(6),
       defer_until = IF(:keep_deferral, defer_until,
                       TIMESTAMP'2025-01-01 00:00:00'
                         + INTERVAL {known_now} + NULLIF(:defer_us, 0) MICROSECOND),
       defer_prio = IF(:keep_deferral, defer_prio, :defer_prio),
       defer_key = IF(:keep_deferral, defer_key, :defer_key),
       lock_by = NULL, lock_origin = NULL, lock_host = NULL, lock_instance = NULL, lock_pid = NULL
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE';
