-- Queues whose current layout waits for a former one that is empty: without tasks, and without a
-- lease, so that no worker runs a task of it that was cancelled at the same time. Tasks placed by
-- the former layout were committed before the current one was made, so none can follow. FORCE INDEX
-- as in scout.sql.
SELECT queue.queue_id, queue.layout
  FROM queue
  JOIN q_lock_table AS first
    ON first.queue_id = queue.queue_id AND first.partition_no = queue.first_partition
   AND first.defer_until = CAST('9000-01-01' AS DATETIME(6)) + INTERVAL queue.layout SECOND
 WHERE queue.queue_id IN (:queue_ids)
   AND NOT EXISTS (
         SELECT 1 FROM q_lock_table AS lease
          WHERE lease.queue_id = queue.queue_id
            AND (lease.partition_no < queue.first_partition
                 OR lease.partition_no >= queue.first_partition + queue.partitions)
            AND (lease.state <> 'FREE'
                 OR (SELECT run_key FROM task FORCE INDEX (PRIMARY)
                      WHERE task.queue_id = lease.queue_id
                        AND task.partition_no = lease.partition_no
                      LIMIT 1) IS NOT NULL));
