-- The last attempt is over: the task leaves the queue, and is kept for people.
INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, key_hash, type,
                       payload, cause, error, detail, fault, died_at, headers)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), GREATEST(attempt, :attempt),
       flags, key_hash, type, payload, :cause, :error, :detail, :fault,
       UTC_TIMESTAMP(6), headers
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
    ON DUPLICATE KEY UPDATE cause = VALUES(cause), error = VALUES(error), detail = VALUES(detail),
                            fault = VALUES(fault);
DELETE FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
DELETE FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
