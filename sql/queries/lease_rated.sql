-- Takes a free partition of a rated queue for those that know rates, and charge for what they start
-- (charge_rate.sql). As lease.sql, but that a row in queue_pause which only says *rated* stops nobody
-- here, and that it takes nothing while no start is free (by a look, which locks no bucket).
UPDATE q_lock_table
   SET epoch = GREATEST(epoch + 1, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))),
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
   AND (lock_by = :holder
        OR (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id AND paused) IS NULL
           AND (SELECT COUNT(*) FROM queue_bucket
                 WHERE queue_id = :queue_id
                   AND NOT next_free BETWEEN TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + 1
                     AND TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + GREATEST(interval_us, 100000)) > 0)
   AND (:wait  -- as in lease.sql
        OR EXISTS (SELECT 1 FROM (SELECT 1 FROM q_lock_table
                                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                                   LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked));
SELECT epoch, suspect_to, suspect_n, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
  FROM q_lock_table
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND lock_by = :holder AND state <> 'FREE';
