-- Headers of a task whose worker died, for log lines about it: the settler knows only the contents
-- of the slot. In its partition, otherwise detached.
SELECT headers
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key
UNION ALL
SELECT headers
  FROM task_running
 WHERE {this_id};
