-- The rates of these queues: which have one, in how many microseconds a task may start, and how many
-- may start now. (S44: a time too far ahead counts as now.)
SELECT queue_id,
       GREATEST(0, MIN(IF(next_free > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + GREATEST(interval_us, 100000), 0,
                          next_free - TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))))),
       SUM(IF(next_free > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)),
              next_free > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + GREATEST(interval_us, 100000),
              (LEAST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) - next_free, hold_us) + interval_us) DIV interval_us))
  FROM queue_bucket
 WHERE queue_id IN (:queue_ids)
 GROUP BY queue_id;
-- As scout.sql, for rated queues; with :closed also for those in which no task may start now.
SELECT lease.queue_id, lease.partition_no
  FROM queue_pause AS pause
       STRAIGHT_JOIN q_lock_table AS lease
    ON lease.queue_id = pause.queue_id
 WHERE pause.queue_id IN (:queue_ids) AND pause.rated AND NOT pause.paused
   AND lease.state = 'FREE'
   AND (:closed
        OR (SELECT COUNT(*) FROM queue_bucket
             WHERE queue_id = pause.queue_id
               AND NOT next_free BETWEEN TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + 1
                 AND TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + GREATEST(interval_us, 100000)) > 0)
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
