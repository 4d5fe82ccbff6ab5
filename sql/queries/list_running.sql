-- Columns as in list_tasks.sql, and where it runs.
SELECT partition_no, prio, run_key, first_key, attempt, type, LENGTH(payload),
       {due_moment run_key},
       lock_host, lock_pid
  FROM task_running
 WHERE queue_id = :queue_id
   AND {behind first_key}
 ORDER BY queue_id, partition_no, prio, first_key
 LIMIT :limit;
