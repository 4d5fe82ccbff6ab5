-- Like keep_history.sql, before ack_detached.sql. The row names where the task ran.
INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, ended_at,
                          lock_host, lock_pid, runtime_us, cpu_us, max_rss_kib, headers)
SELECT queue_id, partition_no, prio, first_key, attempt, type, UTC_TIMESTAMP(6),
       lock_host, lock_pid, :runtime_us, :cpu_us, :max_rss_kib, headers
  FROM task_running
 WHERE {my_detached}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE ended_at = VALUES(ended_at);
