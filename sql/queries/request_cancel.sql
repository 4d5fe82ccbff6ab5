-- Requests the end of a running task: a detached one, or a cancel-watched one in a leased
-- partition. Locks its row, so that no request remains for a task that just ended. The first
-- request prevails.
INSERT INTO task_cancel (queue_id, partition_no, prio, first_key, reason, requested_at, as_done)
SELECT queue_id, partition_no, prio, first_key, :reason, UTC_TIMESTAMP(6), :as_done
  FROM task_running
 WHERE {this_id}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE reason = task_cancel.reason;
INSERT INTO task_cancel (queue_id, partition_no, prio, first_key, reason, requested_at, as_done)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), :reason, UTC_TIMESTAMP(6), :as_done
  FROM task
 WHERE {this_task}
   AND COALESCE(first_key, run_key) = :first_key
   AND flags & :cancel_watched_flag <> 0
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND state <> 'FREE') = 1
   FOR UPDATE
    ON DUPLICATE KEY UPDATE reason = task_cancel.reason;
