-- on_stuck: among the heads of all partitions and classes, the one that has been due the longest,
-- if for that long, each found as in scout.sql, which explains FORCE INDEX. No row for a
-- paused queue, whose tasks wait by intention.
SELECT head.partition_no, head.prio, COALESCE(task.first_key, task.run_key), task.type,
       task.attempt,
       {due_moment task.run_key},
       lease.lock_host, lease.lock_pid, task.headers
  FROM (SELECT rows_of.partition_no, classes.prio,
               (SELECT task.run_key FROM task FORCE INDEX (PRIMARY)
                 WHERE task.queue_id = :queue_id AND task.partition_no = rows_of.partition_no
                   AND task.prio = classes.prio
                 ORDER BY task.queue_id, task.partition_no, task.prio, task.run_key LIMIT 1) AS head_key
          FROM q_lock_table AS rows_of
          JOIN (SELECT 0 AS prio UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)
               AS classes
         WHERE rows_of.queue_id = :queue_id
           AND NOT EXISTS (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id AND paused)
        HAVING head_key < (TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                             UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND) << 12)
         ORDER BY head_key
         LIMIT 1) AS head
       STRAIGHT_JOIN task FORCE INDEX (PRIMARY)
    ON task.queue_id = :queue_id AND task.partition_no = head.partition_no
   AND task.prio = head.prio AND task.run_key = head.head_key
       STRAIGHT_JOIN q_lock_table AS lease
    ON lease.queue_id = :queue_id AND lease.partition_no = head.partition_no;
