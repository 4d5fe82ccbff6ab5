-- Like discard_dead.sql, of tasks that still died before :before: one that was retried since
-- old_dead.sql found it, and died again, stays with its attempts (S46).
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:first_keys)
   AND (SELECT 1 FROM task_dead
         WHERE task_dead.queue_id = task_attempt.queue_id
           AND task_dead.partition_no = task_attempt.partition_no
           AND task_dead.prio = task_attempt.prio
           AND task_dead.first_key = task_attempt.first_key
           AND task_dead.died_at < :before FOR UPDATE) = 1;
DELETE /*+ INDEX(task_dead PRIMARY) */ FROM task_dead
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:first_keys)
   AND died_at < :before;
