-- Like old_history.sql, for dead tasks.
SELECT partition_no, prio, first_key, UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND
  FROM task_dead
 WHERE queue_id = :queue_id
   AND died_at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND
 ORDER BY queue_id, died_at
 LIMIT :limit;
