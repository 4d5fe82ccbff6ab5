-- Whether a task that runs in its partition is still there, because nobody took it out.
SELECT COUNT(*)
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND COALESCE(first_key, run_key) = :first_key;
