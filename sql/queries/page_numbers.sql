-- Numbers of jobs, page by page, and whether the task is gone. A task that is gone stays gone.
SELECT page.job_id,
       NOT EXISTS (SELECT 1 FROM task
                    WHERE task.queue_id = page.queue_id AND task.partition_no = page.partition_no
                      AND task.prio = page.prio AND task.run_key = page.first_key)
       AND NOT EXISTS (SELECT 1 FROM task_moved AS moved
                    WHERE moved.queue_id = page.queue_id AND moved.partition_no = page.partition_no
                      AND moved.prio = page.prio AND moved.first_key = page.first_key)
       AND NOT EXISTS (SELECT 1 FROM task_running AS running
                    WHERE running.queue_id = page.queue_id
                      AND running.partition_no = page.partition_no
                      AND running.prio = page.prio AND running.first_key = page.first_key)
       AND NOT EXISTS (SELECT 1 FROM task_dead
                    WHERE task_dead.queue_id = page.queue_id
                      AND task_dead.partition_no = page.partition_no
                      AND task_dead.prio = page.prio AND task_dead.first_key = page.first_key)
  FROM fireworq_job AS page
 WHERE page.job_id > :after
 ORDER BY page.job_id
 LIMIT :limit;
