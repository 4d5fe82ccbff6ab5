-- Like discard_dead.sql, for tasks that still have a death before :before: a task that was retried
-- since old_dead.sql found it, and died again, stays with its attempts (S46).
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE {these_ids}
   AND (SELECT 1 FROM task_dead WHERE {attempts_of task_dead}
           AND task_dead.died_at < :before FOR UPDATE) = 1;
DELETE /*+ INDEX(task_dead PRIMARY) */ FROM task_dead
 WHERE {these_ids}
   AND died_at < :before;
