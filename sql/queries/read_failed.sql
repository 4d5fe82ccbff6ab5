-- Data of a dead job for display.
SELECT attempt, headers, flags, payload, COALESCE(detail, error),
       {unix died_at} DIV 1000
  FROM task_dead
 WHERE {this_id};
