-- Free partitions with a due task, of queues that are not paused, longest released first (S13).
-- Rule: S15.
SELECT lease.queue_id, lease.partition_no
  FROM q_lock_table AS lease
 WHERE lease.queue_id IN (:queue_ids)
   AND lease.state = 'FREE'
   AND (SELECT queue_id FROM queue_pause WHERE queue_id = lease.queue_id) IS NULL
   AND {waits_for_none}
   AND {has_due}
 ORDER BY lease.expire_at
 LIMIT 512;
