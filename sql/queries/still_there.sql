-- Whether a task that runs in its partition still exists, that is, was not taken out.
SELECT COUNT(*)
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key;
