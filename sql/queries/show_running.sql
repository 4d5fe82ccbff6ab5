SELECT partition_no, prio, run_key, first_key, attempt, type, LENGTH(payload),
       {due_moment run_key},
       payload, lock_host, lock_pid,
       {moment detached_at},
       {moment expire_at}, expire_at < UTC_TIMESTAMP(6),
       flags, lock_origin,
       {silent_since task_running},
       headers, progress, progress_text
  FROM task_running
 WHERE {this_id};
