-- A handler here knows these types: the tasks that were put back get their places in the line again,
-- which are their first keys (S66). A first key that a clock which was ahead made counts as now, in
-- the order of :first_keys. :keys as in ack.sql. Otherwise as defer.sql.
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key),
       IF(COALESCE(first_key, run_key)
            <= GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) << 12,
          COALESCE(first_key, run_key),
          (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) << 12)
            + FIELD(COALESCE(first_key, run_key), :first_keys)) + :salt
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags & ~:no_handler_flag,
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
