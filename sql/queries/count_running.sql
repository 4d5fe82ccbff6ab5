SELECT COUNT(*) FROM (SELECT 1 FROM task_running WHERE queue_id = :queue_id LIMIT :most) AS bounded;
