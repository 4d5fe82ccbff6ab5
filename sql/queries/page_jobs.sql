-- Jobs of a partition with keys in a range, earliest or latest first, with their numbers.
SELECT STRAIGHT_JOIN task.run_key, fireworq_job.job_id, LENGTH(task.payload)
  FROM task
  JOIN fireworq_job ON fireworq_job.queue_id = task.queue_id
   AND fireworq_job.partition_no = task.partition_no AND fireworq_job.prio = task.prio
   AND fireworq_job.first_key = COALESCE(task.first_key, task.run_key)
 WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no AND task.prio = :prio
   AND task.run_key BETWEEN :first_key AND :last_key
 ORDER BY task.queue_id :way, task.partition_no :way, task.prio :way, task.run_key :way
 LIMIT :limit;
