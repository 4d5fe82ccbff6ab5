-- When the last waiting task of a queue is due, and whether that is more than a minute ahead: one
-- probe for each class of each partition, with order and index as in scout.sql.
SELECT {due_moment last.run_key},
       last.run_key >> 12 > TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                                          UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE)
  FROM (SELECT MAX(GREATEST(COALESCE({last_head 0}, 0), COALESCE({last_head 1}, 0),
                            COALESCE({last_head 2}, 0), COALESCE({last_head 3}, 0))) AS run_key
          FROM q_lock_table AS lease
         WHERE lease.queue_id = :queue_id) AS last;
