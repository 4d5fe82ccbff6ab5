-- Queues with a task that has this unique key, and since when the key is free in the others: a tick
-- that waited for it is late only from then on. In all queues, because a route or a change of the
-- schedule may have sent the task of an earlier tick to another one (S68). The last column: the key
-- is reserved for longer than its own duration (bound_unique.sql).
SELECT task_unique.queue_id, free_at IS NULL OR free_at > UTC_TIMESTAMP(6),
       {unix free_at},
       COALESCE(free_at > UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND, 0)
  FROM queue
  STRAIGHT_JOIN task_unique FORCE INDEX (PRIMARY)
    ON task_unique.queue_id = queue.queue_id AND task_unique.unique_key = :unique_key;
