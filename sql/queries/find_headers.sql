-- What goes with a task whose worker died, for the lines of the log about that: the settler knows
-- only what is in the slot. In its partition, else detached.
SELECT headers
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND COALESCE(first_key, run_key) = :first_key
UNION ALL
SELECT headers
  FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key;
