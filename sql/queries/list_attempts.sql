-- The attempts of the task's present life; on demand also those of earlier lives, before it was
-- retried from the dead.
SELECT attempt, DATE_FORMAT(ended_at, '%Y-%m-%dT%H:%i:%s.%fZ'), cause, error, lock_host, lock_pid,
       life, runtime_us, cpu_us, max_rss_kib, detail, fault, log_lines
  FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key AND (life = 0 OR :earlier)
 ORDER BY life DESC, attempt;
