-- What is shown of a dead job.
SELECT attempt, headers, flags, payload, COALESCE(detail, error),
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', died_at) DIV 1000
  FROM task_dead
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
   AND first_key = :first_key;
