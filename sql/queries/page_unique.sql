-- Keys of a queue, page by page in their order, and which of them have been free for long or are
-- reserved for longer than their own duration (bound_unique.sql).
SELECT unique_key, COALESCE(free_at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND, 0),
       COALESCE(free_at > UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND, 0)
  FROM task_unique
 WHERE queue_id = :queue_id AND unique_key > :after
 ORDER BY queue_id, unique_key
 LIMIT :limit;
