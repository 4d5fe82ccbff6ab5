-- on_stuck: of the heads of all partitions and classes, the one that has been due the longest, if it
-- has been for so long. Of a paused queue none: it stands still because somebody wants it to.
SELECT heads.partition_no, heads.prio, COALESCE(task.first_key, task.run_key), task.type,
       task.attempt,
       DATE_FORMAT('2025-01-01' + INTERVAL (task.run_key >> 12) MICROSECOND,
                   '%Y-%m-%dT%H:%i:%s.%fZ'),
       lease.lock_host, lease.lock_pid
  FROM (SELECT rows_of.partition_no, classes.prio,
               (SELECT run_key FROM task
                 WHERE task.queue_id = :queue_id AND task.partition_no = rows_of.partition_no
                   AND task.prio = classes.prio
                 ORDER BY run_key LIMIT 1) AS run_key
          FROM q_lock_table AS rows_of
          JOIN (SELECT 0 AS prio UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS classes
         WHERE rows_of.queue_id = :queue_id
           AND NOT EXISTS (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id)) AS heads
  JOIN task
    ON task.queue_id = :queue_id AND task.partition_no = heads.partition_no
   AND task.prio = heads.prio AND task.run_key = heads.run_key
  JOIN q_lock_table AS lease
    ON lease.queue_id = :queue_id AND lease.partition_no = heads.partition_no
 WHERE heads.run_key < (TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                          UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND) << 12)
 ORDER BY heads.run_key
 LIMIT 1;
