-- The next group of a queue's dead tasks, in the order of their hashes: the index steps from one
-- group to the next, however many tasks each has.
SELECT error_group
  FROM task_dead FORCE INDEX (error_group)
 WHERE queue_id = :queue_id AND error_group > :group
 ORDER BY queue_id, error_group
 LIMIT 1;
