-- The failed attempt of a group that ended last, of a task that is alive or dead.
SELECT partition_no, prio, first_key, {moment ended_at}, error
  FROM task_attempt FORCE INDEX (error_group)
 WHERE queue_id = :queue_id AND error_group = :group
 ORDER BY queue_id DESC, error_group DESC, ended_at DESC
 LIMIT 1;
