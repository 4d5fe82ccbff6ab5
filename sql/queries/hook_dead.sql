-- on_dead (C9), before bury.sql in the same transaction: submits a task that reports this death to
-- another queue. Requires the task and passes the same fence as its burial: so it submits once, and
-- not again in a repeat. :hook_flag marks the new task, and a task with the mark triggers no hook.
-- No row if the other queue is missing or not a spread one. The new task continues the trace of the
-- dead one, with the attempt with :span as parent.
INSERT INTO task (queue_id, partition_no, prio, run_key, flags, type, payload, headers)
SELECT target.queue_id, :dice % target.partitions, 1,
       ({now} << 12) + :salt,
       :hook_flag, :hook_type,
       CONVERT(JSON_OBJECT('event', 'dead', 'task', :task, 'queue', :queue, 'type', CONVERT(task.type USING utf8mb4),
                           'attempts', GREATEST(task.attempt, :attempt),
                           'cause', :cause, 'error', :error, 'detail', :detail,
                           'fault', :fault,
                           'died_at', {moment UTC_TIMESTAMP(6)},
                           'host', :host, 'payload_size', LENGTH(task.payload)) USING utf8mb4),
       IF(LOCATE('traceparent=00-', task.headers) > 0,
          INSERT(SUBSTR(task.headers, LOCATE('traceparent=00-', task.headers)), 49, 16, :span), NULL)
  FROM task
  JOIN {hook_target}
 WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
   AND task.prio = :prio AND task.run_key = :run_key
   AND task.flags & :hook_flag = 0
   AND {fence}
   FOR UPDATE;
