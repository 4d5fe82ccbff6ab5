-- Like record_attempt.sql. The row names where the task ran, because a recovery is done by another
-- worker.
INSERT INTO task_attempt ({attempt_columns})
SELECT queue_id, partition_no, prio, first_key, :attempt, UTC_TIMESTAMP(6), :cause, :error,
       :detail, :fault, LEFT(SHA2(CONCAT_WS(' ', queue_id, CAST(type AS BINARY), :cause, :fault), 256), 12),
       :log_lines, lock_host, lock_pid, :runtime_us, :cpu_us, :max_rss_kib
  FROM task_running
 WHERE {my_detached}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE {same_attempt};
