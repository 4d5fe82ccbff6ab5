-- Deletes by key, in the order of the table, what still ended before :before (S46). The attempts go
-- first, so that a reader never finds an attempt without its task; any task may have some, also one
-- that came back from the dead and succeeded at once. :first_keys as in ack_history.sql, of one
-- partition.
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:first_keys)
   AND (SELECT 1 FROM task_history
         WHERE task_history.queue_id = task_attempt.queue_id
           AND task_history.partition_no = task_attempt.partition_no
           AND task_history.prio = task_attempt.prio
           AND task_history.first_key = task_attempt.first_key
           AND task_history.ended_at < :before FOR UPDATE) = 1;
DELETE /*+ INDEX(task_history PRIMARY) */ FROM task_history
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:first_keys)
   AND ended_at < :before;
