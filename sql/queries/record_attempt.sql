-- Writes a failed attempt, with retry, bury or charge in the same transaction; in careful mode
-- before it runs, as lost, until its verdict replaces that. FOR UPDATE waits for a late
-- acknowledgement, so that no record outlives its task.
-- Rule: S81.
INSERT INTO task_attempt ({attempt_columns})
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), :attempt, UTC_TIMESTAMP(6), :cause, :error,
       :detail, :fault, LEFT(SHA2(CONCAT_WS(' ', queue_id, CAST(type AS BINARY), :cause, :fault), 256), 12),
       :log_lines, :host, :pid,
       :runtime_us, :cpu_us, :max_rss_kib
  FROM task
 WHERE {this_task}
   AND {fence}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE {same_attempt};
