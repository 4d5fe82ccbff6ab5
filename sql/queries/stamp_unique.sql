-- A task with a unique key has ended: the key becomes free after its reservation if the task
-- :finished, and at once if it is dead. No fence, as in ack_history.sql: a task that exists
-- anywhere else has not ended. :first_keys as there.
-- Rule: S6.
UPDATE /*+ INDEX(task_unique task) */ task_unique
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL IF(:finished, unique_for_us, 0) MICROSECOND
 WHERE {these_ids}
   AND free_at IS NULL
   AND (SELECT 1 FROM task
         WHERE task.queue_id = task_unique.queue_id
           AND task.partition_no = task_unique.partition_no
           AND task.prio = task_unique.prio AND task.run_key = task_unique.first_key) IS NULL
   AND (SELECT 1 FROM task_moved
         WHERE task_moved.queue_id = task_unique.queue_id
           AND task_moved.partition_no = task_unique.partition_no
           AND task_moved.prio = task_unique.prio
           AND task_moved.first_key = task_unique.first_key) IS NULL
   AND (SELECT 1 FROM task_running
         WHERE task_running.queue_id = task_unique.queue_id
           AND task_running.partition_no = task_unique.partition_no
           AND task_running.prio = task_unique.prio
           AND task_running.first_key = task_unique.first_key) IS NULL;
