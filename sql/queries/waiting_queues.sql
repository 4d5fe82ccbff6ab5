-- For notices: queues in which a task has been due for that long, for how many seconds, and whether
-- any partition of the queue was leased in that time: by its lease, or by its last release. Heads
-- are found as in scout.sql. No row for a paused queue, whose tasks wait by intention.
SELECT queue.name,
       TIMESTAMPDIFF(SECOND, DATE_ADD('2025-01-01', INTERVAL (heads.oldest >> 12) MICROSECOND),
                     UTC_TIMESTAMP(6)),
       heads.served
  FROM (SELECT rows_of.queue_id,
               MIN((SELECT task.run_key FROM task FORCE INDEX (PRIMARY)
                     WHERE task.queue_id = rows_of.queue_id
                       AND task.partition_no = rows_of.partition_no AND task.prio = classes.prio
                     ORDER BY task.queue_id, task.partition_no, task.prio, task.run_key LIMIT 1)) AS oldest,
               MAX(rows_of.state <> 'FREE' OR rows_of.expire_at > UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND) AS served
          FROM q_lock_table AS rows_of
          JOIN (SELECT 0 AS prio UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)
               AS classes
         GROUP BY rows_of.queue_id) AS heads
  JOIN queue ON queue.queue_id = heads.queue_id
 WHERE heads.oldest < (TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                         UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND) << 12)
   AND NOT EXISTS (SELECT 1 FROM queue_pause
                    WHERE queue_pause.queue_id = queue.queue_id AND queue_pause.paused)
 ORDER BY queue.name;
