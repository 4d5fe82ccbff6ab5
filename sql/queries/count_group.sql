-- Number of dead tasks of a group, like count_dead.sql, and the time of the first death.
SELECT IF((SELECT 1 FROM task_dead FORCE INDEX (error_group)
            WHERE queue_id = :queue_id AND error_group = :group LIMIT 1 OFFSET :bound) IS NULL,
          (SELECT COUNT(*) FROM task_dead FORCE INDEX (error_group)
            WHERE queue_id = :queue_id AND error_group = :group),
          :bound + 1),
       (SELECT DATE_FORMAT(MIN(died_at), '%Y-%m-%dT%H:%i:%s.%fZ') FROM task_dead FORCE INDEX (error_group)
         WHERE queue_id = :queue_id AND error_group = :group);
