-- on_stuck (C9): detached tasks of a queue that have run for long. Their number is limited by the
-- number of workers.
SELECT partition_no, prio, first_key, type, attempt,
       {moment detached_at}, lock_host, lock_pid, headers
  FROM task_running
 WHERE queue_id = :queue_id
   AND detached_at < UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND
 LIMIT :limit;
