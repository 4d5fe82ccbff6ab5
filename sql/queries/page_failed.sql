-- Dead jobs of a queue, latest first, with their numbers. Times are milliseconds since 1970.
SELECT STRAIGHT_JOIN {unix task_dead.died_at} DIV 1000,
       fireworq_job.job_id, LENGTH(task_dead.payload), task_dead.partition_no, task_dead.prio,
       task_dead.first_key
  FROM task_dead FORCE INDEX (died_at)
  JOIN fireworq_job ON fireworq_job.queue_id = task_dead.queue_id
   AND fireworq_job.partition_no = task_dead.partition_no AND fireworq_job.prio = task_dead.prio
   AND fireworq_job.first_key = task_dead.first_key
 WHERE task_dead.queue_id = :queue_id
   AND task_dead.died_at < DATE_ADD('1970-01-01', INTERVAL :until_us MICROSECOND)
 ORDER BY task_dead.queue_id DESC, task_dead.died_at DESC
 LIMIT :limit;
