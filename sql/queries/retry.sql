-- Gives the task a later key; task_moved first, so that the new key is data and no variable. There
-- is no join: a key stays the only way to the row. FOR UPDATE as in record_attempt.sql, the number
-- of attempts as in charge.sql. The task has begun, so it does not expire any more (A14).
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key),
       ((GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us)
         + :delay_us) << 12) + :salt
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
   FOR UPDATE
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE task
   SET attempt = GREATEST(LEAST(attempt, :at_most), :at_least),
       flags = flags & :keep_flags,
       expires_at = NULL,
       first_key = COALESCE(first_key, run_key),
       run_key = (SELECT moved.run_key
                    FROM task_moved AS moved
                   WHERE moved.queue_id = task.queue_id
                     AND moved.partition_no = task.partition_no
                     AND moved.prio = task.prio
                     AND moved.first_key = COALESCE(task.first_key, task.run_key))
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
