-- A long-running task leaves its partition and takes the lease's epoch as its own, which is known
-- before the statement is sent, and never used again. Runs in one transaction with the release.
-- Both statements lock the lease's row while they read it, and the first one the task's, so that a
-- concurrent acknowledgement waits. Conditions are data, never ROW_COUNT() or a variable: the
-- server may continue with this packet after its client was killed. From here on a cancel makes a
-- request (watch_cancel.sql).
INSERT INTO task_running (queue_id, partition_no, prio, first_key, run_key, attempt, flags, type,
                          payload, epoch, lock_by, lock_origin, lock_host, lock_instance, lock_pid,
                          expire_at, ttl_us, detached_at, headers)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), run_key, :attempt,
       flags | :cancel_watched_flag, type, payload, :epoch, :holder, :origin, :host, :instance, :pid,
       UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND, :ttl_us, UTC_TIMESTAMP(6),
       headers
  FROM task
 WHERE {this_task}
   AND {fence}
   FOR UPDATE;
DELETE FROM task
 WHERE {this_task}
   AND {fence};
