-- What goes with a task whose worker died, for the lines of the log about that: the settler knows
-- only what is in the slot. In its partition, else detached.
SELECT headers
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key
UNION ALL
SELECT headers
  FROM task_running
 WHERE {this_id};
