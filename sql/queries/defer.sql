-- No handler here knows these types: the tasks go 30 s ahead, and no attempt is charged (S65).
-- :keys as in ack.sql. The new keys go through task_moved as in retry.sql; FIELD keeps the order.
-- (No window function: with one, MariaDB 10.11 ignores conditions in WHERE beside a single row's
-- key. No FOR UPDATE behind the SELECT: for many keys it may read, and then lock, the whole of a
-- small table.)
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key),
       ((GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us)
         + :delay_us) << 12) + :salt + FIELD(run_key, :run_keys)
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags | :no_handler_flag,
       first_key = COALESCE(first_key, run_key),
       run_key = (SELECT moved.run_key
                    FROM task_moved AS moved
                   WHERE moved.queue_id = task.queue_id
                     AND moved.partition_no = task.partition_no
                     AND moved.prio = task.prio
                     AND moved.first_key = COALESCE(task.first_key, task.run_key))
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
