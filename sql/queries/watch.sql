-- Leases that are not free, for S4: a process takes over only what it has itself seen unchanged.
-- The last column is the TTL of each, or NULL if ttl_us belongs to another epoch.
SELECT queue_id, partition_no, epoch, expire_at,
       expire_at < UTC_TIMESTAMP(6),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)),
       lock_host, lock_instance, lock_pid,
       IF(detail_epoch = epoch, ttl_us, NULL)
  FROM q_lock_table
 WHERE queue_id IN (:queue_ids) AND state <> 'FREE';
