-- Attempts of the current run of the task; on request also those from before it was retried from
-- the dead.
SELECT attempt, {moment ended_at}, cause, error, lock_host, lock_pid,
       retries_since, runtime_us, cpu_us, max_rss_kib, detail, fault, log_lines
  FROM task_attempt
 WHERE {this_id} AND (retries_since = 0 OR :earlier)
 ORDER BY retries_since DESC, attempt;
