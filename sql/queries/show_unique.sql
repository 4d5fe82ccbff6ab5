-- The unique key of a task, and when it is free again if the task has ended.
SELECT unique_key, DATE_FORMAT(LEAST(free_at, UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND),
                   '%Y-%m-%dT%H:%i:%s.%fZ')
  FROM task_unique FORCE INDEX (task)
 WHERE {this_id}
   AND (free_at IS NULL OR free_at > UTC_TIMESTAMP(6));
