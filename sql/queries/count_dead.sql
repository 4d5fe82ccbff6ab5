-- Like count_waiting.sql.
SELECT IF((SELECT 1 FROM task_dead WHERE queue_id = :queue_id LIMIT 1 OFFSET :bound) IS NULL,
          (SELECT COUNT(*) FROM task_dead WHERE queue_id = :queue_id),
          :bound + 1);
