-- A job by its number: its task's id, and its current key if the task waits or runs.
SELECT fireworq_job.partition_no, fireworq_job.prio, fireworq_job.first_key,
       COALESCE(task_moved.run_key, fireworq_job.first_key)
  FROM fireworq_job
  LEFT JOIN task_moved ON task_moved.queue_id = fireworq_job.queue_id
   AND task_moved.partition_no = fireworq_job.partition_no
   AND task_moved.prio = fireworq_job.prio AND task_moved.first_key = fireworq_job.first_key
 WHERE fireworq_job.job_id = :job_id AND fireworq_job.queue_id = :queue_id;
