-- Columns as in list_history.sql.
SELECT partition_no, prio, first_key, type, attempt,
       DATE_FORMAT(ended_at, '%Y-%m-%dT%H:%i:%s.%fZ'), lock_host, lock_pid,
       runtime_us, cpu_us, max_rss_kib, headers
  FROM task_history
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key;
