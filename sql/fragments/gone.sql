-- The task that a row of this table names by its id neither waits nor runs.
(SELECT 1 FROM task
         WHERE task.queue_id = {arg}.queue_id
           AND task.partition_no = {arg}.partition_no
           AND task.prio = {arg}.prio AND task.run_key = {arg}.first_key) IS NULL
   AND (SELECT 1 FROM task_moved
         WHERE task_moved.queue_id = {arg}.queue_id
           AND task_moved.partition_no = {arg}.partition_no
           AND task_moved.prio = {arg}.prio
           AND task_moved.first_key = {arg}.first_key) IS NULL
   AND (SELECT 1 FROM task_running
         WHERE task_running.queue_id = {arg}.queue_id
           AND task_running.partition_no = {arg}.partition_no
           AND task_running.prio = {arg}.prio
           AND task_running.first_key = {arg}.first_key) IS NULL
