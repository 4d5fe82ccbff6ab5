-- Moves waiting tasks of a leased partition to one of another queue, with their due times, their
-- attempts and records, and requests to cancel them. :keys and :first_keys as in ack.sql and
-- ack_history.sql. Locks their rows while it reads them, because a cancel needs no lease. The index
-- is named because for many keys the server may read, and lock, all of a small table.
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT :to_queue_id, :to_partition_no, prio, COALESCE(first_key, run_key), run_key + :salt
  FROM task FORCE INDEX (PRIMARY)
 WHERE {these_tasks}
   AND (first_key IS NOT NULL OR attempt > 0 OR flags & :cancel_watched_flag <> 0)
   AND {fence}
   FOR UPDATE;
UPDATE /*+ INDEX(task_attempt PRIMARY) */ task_attempt
   SET queue_id = :to_queue_id, partition_no = :to_partition_no
 WHERE {these_ids}
   AND (SELECT 1 FROM task
         WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
           AND task.prio = task_attempt.prio AND task.run_key IN (:run_keys)
           AND COALESCE(task.first_key, task.run_key) = task_attempt.first_key LIMIT 1) = 1
   AND {fence};
INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, attempt, flags, expires_at, type,
                  payload, headers)
SELECT :to_queue_id, :to_partition_no, prio, run_key + :salt,
       IF(first_key IS NULL AND attempt = 0 AND flags & :cancel_watched_flag = 0, NULL,
          COALESCE(first_key, run_key)),
       attempt, flags & ~:no_handler_flag, expires_at, type, payload, headers
  FROM task FORCE INDEX (PRIMARY)
 WHERE {these_tasks}
   AND {fence}
   FOR UPDATE;
UPDATE /*+ INDEX(task_cancel PRIMARY) */ task_cancel
   SET queue_id = :to_queue_id, partition_no = :to_partition_no
 WHERE {these_ids}
   AND (SELECT 1 FROM task
         WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
           AND task.prio = task_cancel.prio AND task.run_key IN (:run_keys)
           AND COALESCE(task.first_key, task.run_key) = task_cancel.first_key LIMIT 1) = 1
   AND {fence};
DELETE /*+ INDEX(task_moved PRIMARY) */ FROM task_moved
 WHERE {these_ids}
   AND (SELECT 1 FROM task
         WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
           AND task.prio = task_moved.prio AND task.run_key IN (:run_keys)
           AND COALESCE(task.first_key, task.run_key) = task_moved.first_key LIMIT 1) = 1
   AND {fence};
DELETE /*+ INDEX(task PRIMARY) */ FROM task
 WHERE {these_tasks}
   AND {fence};
