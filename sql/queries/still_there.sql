-- Whether a task that runs in its partition is still there, because nobody took it out.
SELECT COUNT(*)
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key;
