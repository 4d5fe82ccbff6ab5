-- Like record_attempt.sql. The row says where the task ran, because another worker does a recovery.
INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, attempt, ended_at, cause, error,
                          detail, fault, error_group, log_lines, lock_host, lock_pid, runtime_us, cpu_us,
                          max_rss_kib)
SELECT queue_id, partition_no, prio, first_key, :attempt, UTC_TIMESTAMP(6), :cause, :error,
       :detail, :fault, LEFT(SHA2(CONCAT_WS(' ', queue_id, CAST(type AS BINARY), :cause, :fault), 256), 12),
       :log_lines, lock_host, lock_pid, :runtime_us, :cpu_us, :max_rss_kib
  FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder
   FOR UPDATE
    ON DUPLICATE KEY UPDATE ended_at = IF(task_attempt.cause = VALUES(cause), ended_at, VALUES(ended_at)),
                            cause = VALUES(cause), error = VALUES(error),
                            detail = VALUES(detail), fault = VALUES(fault),
                            error_group = VALUES(error_group),
                            log_lines = VALUES(log_lines),
                            runtime_us = VALUES(runtime_us), cpu_us = VALUES(cpu_us),
                            max_rss_kib = VALUES(max_rss_kib);
