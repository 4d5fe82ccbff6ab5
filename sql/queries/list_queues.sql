-- A queue that is being resized has partitions that wait for its former layout: see defer_layout.sql.
SELECT queue.queue_id, queue.name, queue.partitions, queue.placement, queue.max_running,
       queue.first_partition, queue.layout, queue.cap,
       IF(pause.paused, {moment pause.paused_at}, NULL), pause.reason,
       EXISTS (SELECT 1 FROM q_lock_table AS lease
                WHERE lease.queue_id = queue.queue_id
                  AND lease.partition_no = queue.first_partition
                  AND lease.defer_until >= '9000-01-01'),
       queue.routed, rate.per_second, rate.burst
  FROM queue
  LEFT JOIN queue_pause AS pause ON pause.queue_id = queue.queue_id
  LEFT JOIN queue_rate AS rate ON rate.queue_id = queue.queue_id
 ORDER BY queue.name;
