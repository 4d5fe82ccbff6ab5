INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, type, payload, cause,
                       error, detail, fault, died_at, headers)
SELECT queue_id, partition_no, prio, first_key, :attempt, flags, type, payload, :cause, :error,
       :detail, :fault, UTC_TIMESTAMP(6), headers
  FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder
   FOR UPDATE
    ON DUPLICATE KEY UPDATE cause = VALUES(cause), error = VALUES(error), detail = VALUES(detail),
                            fault = VALUES(fault);
DELETE FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND (SELECT 1 FROM task_running
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND prio = :prio AND first_key = :first_key
           AND epoch = :epoch AND lock_by = :holder FOR UPDATE) = 1;
DELETE FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder;
