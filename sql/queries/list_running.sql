-- Columns as in list_tasks.sql, and where it runs.
SELECT partition_no, prio, run_key, first_key, attempt, type, LENGTH(payload),
       DATE_FORMAT('2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ'),
       lock_host, lock_pid
  FROM task_running
 WHERE queue_id = :queue_id
   AND (partition_no > :partition_no
        OR partition_no = :partition_no AND prio > :prio
        OR partition_no = :partition_no AND prio = :prio AND first_key > :first_key)
 ORDER BY queue_id, partition_no, prio, first_key
 LIMIT :most;
