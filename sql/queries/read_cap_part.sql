-- The cap of a queue, its number of partitions, and how much of the cap the leases of its other
-- partitions may run. For a holder that has leased the partition before: of two concurrent leases,
-- one sees the other (S51). The last two columns: whether the queue is paused, and whether it has a
-- rate, for a lease that is to continue.
SELECT queue.cap, queue.partitions, queue.first_partition,
       (SELECT COALESCE(SUM(lease.block_size), 0) FROM q_lock_table AS lease
         WHERE lease.queue_id = :queue_id AND lease.partition_no <> :partition_no
           AND lease.state <> 'FREE'),
       pause.paused, pause.rated
  FROM queue
  LEFT JOIN queue_pause AS pause ON pause.queue_id = queue.queue_id
 WHERE queue.queue_id = :queue_id;
