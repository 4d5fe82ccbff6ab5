-- The newest first.
SELECT partition_no, prio, first_key, first_key, attempt, type, LENGTH(payload),
       DATE_FORMAT(died_at, '%Y-%m-%dT%H:%i:%s.%fZ'), cause, error
  FROM task_dead
 WHERE queue_id = :queue_id
 ORDER BY queue_id DESC, died_at DESC, partition_no DESC, prio DESC, first_key DESC
 LIMIT :most;
