-- Deletes the requests for ended tasks. No fence; leaves tasks alone that exist anywhere else, as
-- in stamp_unique.sql. :first_keys as there.
-- Rule: S6.
DELETE /*+ INDEX(task_cancel PRIMARY) */ FROM task_cancel
 WHERE {these_ids}
   AND (SELECT 1 FROM task
         WHERE task.queue_id = task_cancel.queue_id
           AND task.partition_no = task_cancel.partition_no
           AND task.prio = task_cancel.prio AND task.run_key = task_cancel.first_key) IS NULL
   AND (SELECT 1 FROM task_moved
         WHERE task_moved.queue_id = task_cancel.queue_id
           AND task_moved.partition_no = task_cancel.partition_no
           AND task_moved.prio = task_cancel.prio
           AND task_moved.first_key = task_cancel.first_key) IS NULL
   AND (SELECT 1 FROM task_running
         WHERE task_running.queue_id = task_cancel.queue_id
           AND task_running.partition_no = task_cancel.partition_no
           AND task_running.prio = task_cancel.prio
           AND task_running.first_key = task_cancel.first_key) IS NULL;
