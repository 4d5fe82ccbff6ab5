-- Detached tasks, for S4 and S20: a process recovers only tasks that it has itself seen unchanged.
SELECT queue_id, partition_no, prio, first_key, attempt, type, epoch, expire_at,
       expire_at < UTC_TIMESTAMP(6),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expire_at)),
       lock_host, lock_instance, lock_pid, ttl_us, headers
  FROM task_running
 WHERE queue_id IN (:queue_ids);
