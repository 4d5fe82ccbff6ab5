-- Like cancel.sql, but the task counts as finished: if its queue keeps a history (:keep), it is
-- recorded there with its charged attempts. :host and :pid identify the process that cancels.
INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, ended_at,
                          lock_host, lock_pid, runtime_us, cpu_us, max_rss_kib, headers)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), attempt, type,
       UTC_TIMESTAMP(6), :host, :pid, NULL, NULL, NULL, headers
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key
   AND :keep <> 0
   FOR UPDATE
    ON DUPLICATE KEY UPDATE ended_at = VALUES(ended_at);
DELETE FROM task_moved
 WHERE {this_id}
   AND (SELECT 1 FROM task
         WHERE {this_task}
           AND COALESCE(task.first_key, run_key) = :first_key FOR UPDATE) = 1;
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE {this_id}
   AND (SELECT 1 FROM task
         WHERE {this_task}
           AND COALESCE(task.first_key, run_key) = :first_key FOR UPDATE) = 1
   AND (SELECT 1 FROM task_history
         WHERE {this_id}) IS NULL;
DELETE FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key;
