-- Tasks detached by an earlier run of this instance (S11). Columns as in watch_detached.sql.
SELECT queue_id, partition_no, prio, first_key, attempt, type, epoch, expire_at, 1, 0,
       lock_host, lock_instance, lock_pid, ttl_us, headers
  FROM task_running
 WHERE lock_origin = :origin;
