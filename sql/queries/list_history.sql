-- Newest first. The next page begins after a moment and a task. No index by type exists, so the
-- caller filters by type, and bounds the number of rows that it reads.
SELECT partition_no, prio, first_key, type, attempt,
       {moment ended_at}, lock_host, lock_pid,
       runtime_us, cpu_us, max_rss_kib, headers
  FROM task_history
 WHERE queue_id = :queue_id AND {older ended_at}
 ORDER BY queue_id DESC, ended_at DESC, partition_no DESC, prio DESC, first_key DESC
 LIMIT :limit;
