-- Deferred types in free partitions (S66), longest released first. The worker knows for which of
-- them it has a handler. Tasks that are due by now are found by any scout. Includes partitions that
-- wait for a task without a handler (lease.sql).
SELECT DISTINCT deferred.queue_id, deferred.partition_no, deferred.type, lease.expire_at
  FROM deferred_type AS deferred
       STRAIGHT_JOIN q_lock_table AS lease
    ON lease.queue_id = deferred.queue_id AND lease.partition_no = deferred.partition_no
 WHERE deferred.queue_id IN (:queue_ids)
   AND deferred.to_key > ({known_now} << 12)
   AND lease.state = 'FREE'
   AND (lease.defer_until IS NULL OR lease.defer_until < '9000-01-01')
   AND (SELECT queue_id FROM queue_pause WHERE queue_id = deferred.queue_id AND paused) IS NULL
 ORDER BY lease.expire_at;
