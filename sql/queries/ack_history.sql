-- Only for tasks that were tried before: deletes the rows kept for their ids. No fence, like ack;
-- but if another worker had the partition in between, the task may have another key, run detached,
-- or be dead, and then these rows stay. They also stay if the queue keeps a history, which
-- keep_history.sql wrote before. :first_keys as in ack.sql.
-- Rule: S6.
DELETE /*+ INDEX(task_moved PRIMARY) */ FROM task_moved
 WHERE {these_ids}
   AND (SELECT 1 FROM task
         WHERE task.queue_id = task_moved.queue_id
           AND task.partition_no = task_moved.partition_no
           AND task.prio = task_moved.prio AND task.run_key = task_moved.run_key) IS NULL;
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE {these_ids}
   AND (SELECT 1 FROM task_moved WHERE {attempts_of task_moved}) IS NULL
   AND (SELECT 1 FROM task_dead WHERE {attempts_of task_dead}) IS NULL
   AND (SELECT 1 FROM task_running WHERE {attempts_of task_running}) IS NULL
   AND (SELECT 1 FROM task_history WHERE {attempts_of task_history}) IS NULL;
