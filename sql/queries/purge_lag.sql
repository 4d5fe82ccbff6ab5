-- For doctor: seconds by which the oldest row of a queue's history, and of its dead tasks, is past
-- its retention; NULL if there is none.
SELECT (SELECT TIMESTAMPDIFF(SECOND, ended_at + INTERVAL :history_us MICROSECOND, UTC_TIMESTAMP(6))
          FROM task_history WHERE queue_id = :queue_id ORDER BY queue_id, ended_at LIMIT 1),
       (SELECT TIMESTAMPDIFF(SECOND, died_at + INTERVAL :dead_us MICROSECOND, UTC_TIMESTAMP(6))
          FROM task_dead WHERE queue_id = :queue_id ORDER BY queue_id, died_at LIMIT 1);
