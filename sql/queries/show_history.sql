-- Columns as in list_history.sql.
SELECT partition_no, prio, first_key, type, attempt,
       {moment ended_at}, lock_host, lock_pid,
       runtime_us, cpu_us, max_rss_kib, headers
  FROM task_history
 WHERE {this_id};
