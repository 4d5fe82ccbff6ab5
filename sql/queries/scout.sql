-- Free partitions of queues that are not paused with a task that is due, longest released first
-- (S13). Scalar subqueries, one probe per class: the EXISTS form is materialised by the optimiser
-- and grows with the backlog. In the order of the whole key: for run_key alone MySQL sorts the class.
-- FORCE INDEX: where its statistics still say that the table is empty, MariaDB 11 reads all of it.
-- :known_us is 0 unless the clock was set back: see worker/lease/database_clock.h.
SELECT lease.queue_id, lease.partition_no
  FROM q_lock_table AS lease
 WHERE lease.queue_id IN (:queue_ids)
   AND lease.state = 'FREE'
   AND (SELECT queue_id FROM queue_pause WHERE queue_id = lease.queue_id) IS NULL
   AND (lease.hold_until IS NULL OR lease.hold_until <= TIMESTAMP'2025-01-01 00:00:00'
            + INTERVAL GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) MICROSECOND
        OR lease.hold_until < '9000-01-01' AND lease.of_epoch = lease.epoch
           AND lease.hold_key IS NOT NULL
           AND (SELECT run_key FROM task
                 WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no
                   AND prio = lease.hold_prio AND run_key = lease.hold_key) IS NULL)
   AND ((SELECT run_key FROM task FORCE INDEX (PRIMARY)
          WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no AND prio = 1
          ORDER BY queue_id, partition_no, prio, run_key LIMIT 1) <= (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) << 12) + 4095
     OR (SELECT run_key FROM task FORCE INDEX (PRIMARY)
          WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no AND prio = 0
          ORDER BY queue_id, partition_no, prio, run_key LIMIT 1) <= (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) << 12) + 4095
     OR (SELECT run_key FROM task FORCE INDEX (PRIMARY)
          WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no AND prio = 2
          ORDER BY queue_id, partition_no, prio, run_key LIMIT 1) <= (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) << 12) + 4095
     OR (SELECT run_key FROM task FORCE INDEX (PRIMARY)
          WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no AND prio = 3
          ORDER BY queue_id, partition_no, prio, run_key LIMIT 1) <= (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us) << 12) + 4095)
 ORDER BY lease.expire_at
 LIMIT 512;
