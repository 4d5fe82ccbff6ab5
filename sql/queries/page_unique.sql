-- The keys of a queue, page by page in their order, and which of them have been free for long or are
-- taken for longer than their time (bound_unique.sql).
SELECT unique_key, COALESCE(free_at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND, 0),
       COALESCE(free_at > UTC_TIMESTAMP(6) + INTERVAL keep_us MICROSECOND, 0)
  FROM task_unique
 WHERE queue_id = :queue_id AND unique_key > :after
 ORDER BY queue_id, unique_key
 LIMIT :most;
