-- Locks the queue and returns its row, and whether an earlier layout still has tasks.
SELECT queue.partitions, queue.first_partition, queue.layout,
       EXISTS (SELECT 1 FROM q_lock_table AS lease
                WHERE lease.queue_id = :queue_id AND lease.defer_until >= '9000-01-01')
  FROM queue
 WHERE queue.queue_id = :queue_id
   FOR UPDATE;
