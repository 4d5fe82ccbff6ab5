-- Like hook_dead.sql, before bury_detached.sql.
INSERT INTO task (queue_id, partition_no, prio, run_key, flags, type, payload, headers)
SELECT target.queue_id, :dice % target.partitions, 1,
       ({now} << 12) + :salt,
       :hook_flag, :hook_type,
       CONVERT(JSON_OBJECT('event', 'dead', 'task', :task, 'queue', :queue,
                           'type', CONVERT(running.type USING utf8mb4), 'attempts', :attempt,
                           'cause', :cause, 'error', :error, 'detail', :detail,
                           'fault', :fault,
                           'died_at', {moment UTC_TIMESTAMP(6)},
                           'host', running.lock_host,
                           'payload_size', LENGTH(running.payload)) USING utf8mb4),
       IF(LOCATE('traceparent=00-', running.headers) > 0,
          INSERT(SUBSTR(running.headers, LOCATE('traceparent=00-', running.headers)), 49, 16, :span),
          NULL)
  FROM task_running AS running
  JOIN {hook_target}
 WHERE running.queue_id = :queue_id AND running.partition_no = :partition_no
   AND running.prio = :prio AND running.first_key = :first_key
   AND running.flags & :hook_flag = 0
   AND running.epoch = :epoch AND running.lock_by = :holder
   FOR UPDATE;
