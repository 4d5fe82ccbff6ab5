-- As hook_dead.sql, beside bury_detached.sql.
INSERT INTO task (queue_id, partition_no, prio, run_key, flags, type, payload)
SELECT target.queue_id, :dice % target.partitions, 1,
       (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + :salt,
       :hook_flag, :hook_type,
       CONVERT(JSON_OBJECT('event', 'dead', 'task', :task, 'queue', :queue,
                           'type', task_running.type, 'attempts', :attempt,
                           'cause', :cause, 'error', :error,
                           'died_at', DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'),
                           'host', task_running.lock_host,
                           'payload_size', LENGTH(task_running.payload)) USING utf8mb4)
  FROM task_running
  JOIN (SELECT queue_id, partitions
          FROM queue
         WHERE name = :hook_queue AND placement = 'spread'
         LIMIT 1) AS target
 WHERE task_running.queue_id = :queue_id AND task_running.partition_no = :partition_no
   AND task_running.prio = :prio AND task_running.first_key = :first_key
   AND task_running.flags & :hook_flag = 0
   AND task_running.epoch = :epoch AND task_running.lock_by = :holder
   FOR UPDATE;
