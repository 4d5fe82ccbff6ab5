-- Gives tasks the keys stored in task_moved. The new key is data there, not a variable. COALESCE
-- gives the same for the former and the new first_key.
first_key = COALESCE(first_key, run_key),
       run_key = (SELECT moved.run_key
                    FROM task_moved AS moved
                   WHERE moved.queue_id = task.queue_id
                     AND moved.partition_no = task.partition_no
                     AND moved.prio = task.prio
                     AND moved.first_key = COALESCE(task.first_key, task.run_key))
