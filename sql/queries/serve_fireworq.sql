-- The queues of Fireworq's programs that are not hidden, and how many jobs of each may run at a time
-- (worker/lease/served_queues.h). The first columns are those of find_queue.sql.
SELECT queue.queue_id, queue.name, queue.partitions, queue.placement, queue.max_running,
       queue.first_partition, queue.layout, queue.routed, queue.superseded_by,
       fireworq_queue.max_workers
  FROM fireworq_queue
       STRAIGHT_JOIN queue
    ON queue.queue_id = fireworq_queue.queue_id
 WHERE fireworq_queue.hidden_at IS NULL;
