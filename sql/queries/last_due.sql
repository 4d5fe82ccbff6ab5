-- When the last waiting task of a queue is due, and whether that is more than a minute ahead: one
-- probe for each class of each partition, in an order and by an index as in scout.sql.
SELECT DATE_FORMAT('2025-01-01' + INTERVAL (last.run_key >> 12) MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ'),
       last.run_key >> 12 > TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                                          UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE)
  FROM (SELECT MAX(GREATEST(
          COALESCE((SELECT run_key FROM task FORCE INDEX (PRIMARY) WHERE queue_id = lease.queue_id
                       AND partition_no = lease.partition_no AND prio = 0
                     ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC LIMIT 1), 0),
          COALESCE((SELECT run_key FROM task FORCE INDEX (PRIMARY) WHERE queue_id = lease.queue_id
                       AND partition_no = lease.partition_no AND prio = 1
                     ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC LIMIT 1), 0),
          COALESCE((SELECT run_key FROM task FORCE INDEX (PRIMARY) WHERE queue_id = lease.queue_id
                       AND partition_no = lease.partition_no AND prio = 2
                     ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC LIMIT 1), 0),
          COALESCE((SELECT run_key FROM task FORCE INDEX (PRIMARY) WHERE queue_id = lease.queue_id
                       AND partition_no = lease.partition_no AND prio = 3
                     ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC LIMIT 1), 0))) AS run_key
          FROM q_lock_table AS lease
         WHERE lease.queue_id = :queue_id) AS last;
