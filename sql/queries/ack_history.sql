-- Only for tasks that were tried before: deletes the rows that were kept for their ids. It has no
-- fence, like ack; but if another worker had the partition meanwhile, the task may have another
-- key, run detached, or be dead, and then these rows stay. They also stay where the queue keeps a
-- history, which keep_history.sql wrote before. :first_keys as in ack.sql.
DELETE /*+ INDEX(task_moved PRIMARY) */ FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (:first_keys)
   AND (SELECT 1 FROM task
         WHERE task.queue_id = task_moved.queue_id
           AND task.partition_no = task_moved.partition_no
           AND task.prio = task_moved.prio AND task.run_key = task_moved.run_key) IS NULL;
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (:first_keys)
   AND (SELECT 1 FROM task_moved
         WHERE task_moved.queue_id = task_attempt.queue_id
           AND task_moved.partition_no = task_attempt.partition_no
           AND task_moved.prio = task_attempt.prio
           AND task_moved.first_key = task_attempt.first_key) IS NULL
   AND (SELECT 1 FROM task_dead
         WHERE task_dead.queue_id = task_attempt.queue_id
           AND task_dead.partition_no = task_attempt.partition_no
           AND task_dead.prio = task_attempt.prio
           AND task_dead.first_key = task_attempt.first_key) IS NULL
   AND (SELECT 1 FROM task_running
         WHERE task_running.queue_id = task_attempt.queue_id
           AND task_running.partition_no = task_attempt.partition_no
           AND task_running.prio = task_attempt.prio
           AND task_running.first_key = task_attempt.first_key) IS NULL
   AND (SELECT 1 FROM task_history
         WHERE task_history.queue_id = task_attempt.queue_id
           AND task_history.partition_no = task_attempt.partition_no
           AND task_history.prio = task_attempt.prio
           AND task_history.first_key = task_attempt.first_key) IS NULL;
