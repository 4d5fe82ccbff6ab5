-- Takes a free partition and reads the lease back. A lease that this holder has already is taken
-- anew: an earlier reply was lost, and its expiry would be older than the holder can know. Skips
-- paused queues, and a partition that waits for a task which is there (S16); where that had no handler,
-- a worker that has one need not wait (:passed_flag, S66). Assignments run left to right: of_epoch is the
-- new one.
UPDATE q_lock_table
   SET epoch = GREATEST(epoch + 1, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))),  -- S2
       lock_by = :holder,
       lock_origin = :origin,
       lock_host = :host,
       lock_instance = :instance,
       lock_pid = :pid,
       state = 'LOCKED',
       expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       of_epoch = epoch,
       ttl_us = :ttl_us,
       hold_until = NULL,
       block_size = :block_size
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (state = 'FREE' OR lock_by = :holder)
   AND (hold_until IS NULL OR hold_until <= TIMESTAMP'2025-01-01 00:00:00'
            + INTERVAL GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) MICROSECOND
        OR hold_until < '9000-01-01' AND of_epoch = epoch AND hold_key IS NOT NULL
           AND (SELECT run_key FROM task
                 WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
                   AND task.prio = hold_prio AND task.run_key = hold_key
                   AND task.flags & :passed_flag = 0) IS NULL)
   AND (lock_by = :holder OR (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id) IS NULL)
   AND (:wait  -- false: do not wait for a locked row, see README.md
        OR EXISTS (SELECT 1 FROM (SELECT 1 FROM q_lock_table
                                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                                   LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked));
SELECT epoch, suspect_to, suspect_n, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  FROM q_lock_table
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND lock_by = :holder AND state <> 'FREE';
