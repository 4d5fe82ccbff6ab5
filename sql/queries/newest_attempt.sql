-- The latest failed attempt of a group, of a live or dead task.
SELECT partition_no, prio, first_key, {moment ended_at}, error
  FROM task_attempt FORCE INDEX (error_group)
 WHERE queue_id = :queue_id AND error_group = :group
 ORDER BY queue_id DESC, error_group DESC, ended_at DESC
 LIMIT 1;
