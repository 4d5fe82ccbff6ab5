-- For doctor: classes of partitions whose last task is due later than :after_us from now, and when.
-- Probes as in last_due.sql; the cost grows with the partitions, not with the tasks.
SELECT last.queue_id, last.partition_no, last.prio,
       {due_moment last.run_key}
  FROM (SELECT lease.queue_id, lease.partition_no, classes.prio,
               (SELECT run_key FROM task FORCE INDEX (PRIMARY)
                 WHERE task.queue_id = lease.queue_id AND task.partition_no = lease.partition_no
                   AND task.prio = classes.prio
                 ORDER BY task.queue_id DESC, task.partition_no DESC, task.prio DESC, run_key DESC
                 LIMIT 1) AS run_key
          FROM q_lock_table AS lease
          JOIN (SELECT 0 AS prio UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)
               AS classes) AS last
 WHERE last.run_key >> 12 > TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                                          UTC_TIMESTAMP(6) + INTERVAL :after_us MICROSECOND)
 ORDER BY last.run_key DESC;
