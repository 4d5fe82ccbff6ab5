-- How many dead tasks a group has, as count_dead.sql, and when the first of them died.
SELECT IF((SELECT 1 FROM task_dead FORCE INDEX (error_group)
            WHERE queue_id = :queue_id AND error_group = :group LIMIT 1 OFFSET :bound) IS NULL,
          (SELECT COUNT(*) FROM task_dead FORCE INDEX (error_group)
            WHERE queue_id = :queue_id AND error_group = :group),
          :bound + 1),
       (SELECT DATE_FORMAT(MIN(died_at), '%Y-%m-%dT%H:%i:%s.%fZ') FROM task_dead FORCE INDEX (error_group)
         WHERE queue_id = :queue_id AND error_group = :group);
