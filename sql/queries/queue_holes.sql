-- Queues with missing lease rows, by numbers: there is one row for each partition up to the last
-- one that the queue, a lease row or a task names (S59). Probes as in last_due.sql.
SELECT rows_of.queue_id, rows_of.name, rows_of.wanted - rows_of.there
  FROM (SELECT queue.queue_id, queue.name,
               (SELECT COUNT(*) FROM q_lock_table WHERE q_lock_table.queue_id = queue.queue_id) AS there,
               GREATEST(queue.first_partition + queue.partitions,
                 COALESCE((SELECT partition_no + 1 FROM q_lock_table FORCE INDEX (PRIMARY)
                            WHERE q_lock_table.queue_id = queue.queue_id
                            ORDER BY q_lock_table.queue_id DESC, partition_no DESC LIMIT 1), 0),
                 COALESCE((SELECT partition_no + 1 FROM task FORCE INDEX (PRIMARY)
                            WHERE task.queue_id = queue.queue_id
                            ORDER BY task.queue_id DESC, partition_no DESC, prio DESC, run_key DESC
                            LIMIT 1), 0)) AS wanted
          FROM queue) AS rows_of
 WHERE rows_of.there < rows_of.wanted
 ORDER BY rows_of.name;
