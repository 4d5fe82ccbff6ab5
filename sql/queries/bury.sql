-- After the last attempt: moves the task out of the queue and keeps it for people.
INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, key_hash, type,
                       payload, cause, error, detail, fault, died_at, headers)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), GREATEST(attempt, :attempt),
       flags, key_hash, type, payload, :cause, :error, :detail, :fault,
       UTC_TIMESTAMP(6), headers
  FROM task
 WHERE {this_task}
   AND {fence}
    ON DUPLICATE KEY UPDATE cause = VALUES(cause), error = VALUES(error), detail = VALUES(detail),
                            fault = VALUES(fault);
DELETE FROM task_moved
 WHERE {this_id}
   AND {fence};
DELETE FROM task
 WHERE {this_task}
   AND {fence};
