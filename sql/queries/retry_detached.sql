-- Puts a detached task back into its partition with a later key; as in retry.sql that key is data.
-- Any worker may have leased the partition: the task is added to it like a submission.
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, first_key,
       (({known_now} + :delay_us) << 12) + :salt
  FROM task_running
 WHERE {my_detached}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, attempt, flags, type, payload,
                  headers)
SELECT running.queue_id, running.partition_no, running.prio, moved.run_key, moved.first_key,
       :attempt, running.flags & :keep_flags, running.type, running.payload, running.headers
  FROM task_running AS running
  JOIN task_moved AS moved
    ON moved.queue_id = running.queue_id AND moved.partition_no = running.partition_no
   AND moved.prio = running.prio AND moved.first_key = running.first_key
 WHERE running.queue_id = :queue_id AND running.partition_no = :partition_no
   AND running.prio = :prio AND running.first_key = :first_key
   AND running.epoch = :epoch AND running.lock_by = :holder
   FOR UPDATE;
DELETE FROM task_running
 WHERE {my_detached};
