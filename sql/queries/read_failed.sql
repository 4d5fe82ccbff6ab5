-- What is shown of a dead job.
SELECT attempt, headers, flags, payload, COALESCE(detail, error),
       {unix died_at} DIV 1000
  FROM task_dead
 WHERE {this_id};
