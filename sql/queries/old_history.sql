-- The oldest rows of a queue's history past their retention, for one purge, and the moment up to
-- which they are past it.
SELECT partition_no, prio, first_key, UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND
  FROM task_history
 WHERE queue_id = :queue_id
   AND ended_at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND
 ORDER BY queue_id, ended_at
 LIMIT :limit;
