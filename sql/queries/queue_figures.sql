-- For metrics, for each queue: number of leased partitions, number of overdue leases, the due time
-- of the task that has been due the longest, and the time now; both in microseconds since 2025, and
-- the first NULL if no task waits. Heads are found as in scout.sql: the cost grows with the
-- partitions, not with the tasks.
SELECT heads.queue_id, SUM(heads.leased), SUM(heads.overdue), MIN(heads.head) >> 12,
       {now}
  FROM (SELECT rows_of.queue_id,
               classes.prio = 0 AND rows_of.state <> 'FREE' AS leased,
               classes.prio = 0 AND rows_of.state <> 'FREE' AND rows_of.expire_at < UTC_TIMESTAMP(6) AS overdue,
               (SELECT task.run_key FROM task FORCE INDEX (PRIMARY)
                 WHERE task.queue_id = rows_of.queue_id
                   AND task.partition_no = rows_of.partition_no AND task.prio = classes.prio
                 ORDER BY task.queue_id, task.partition_no, task.prio, task.run_key LIMIT 1) AS head
          FROM q_lock_table AS rows_of
          JOIN (SELECT 0 AS prio UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)
               AS classes) AS heads
 GROUP BY heads.queue_id;
