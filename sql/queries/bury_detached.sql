INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, flags, type, payload, cause,
                       error, detail, fault, died_at, headers)
SELECT queue_id, partition_no, prio, first_key, :attempt, flags, type, payload, :cause, :error,
       :detail, :fault, UTC_TIMESTAMP(6), headers
  FROM task_running
 WHERE {my_detached}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE cause = VALUES(cause), error = VALUES(error), detail = VALUES(detail),
                            fault = VALUES(fault);
DELETE FROM task_moved
 WHERE {this_id}
   AND {detached_fence};
DELETE FROM task_running
 WHERE {my_detached};
