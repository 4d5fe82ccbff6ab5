-- Data of the jobs on a page.
SELECT run_key, COALESCE(first_key, run_key), attempt, headers, flags, payload
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
   AND run_key IN (:run_keys);
