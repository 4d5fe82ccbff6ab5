-- Queues made and not deleted by programs written for Fireworq. Columns as in find_queue.sql.
SELECT queue.queue_id, queue.name, queue.partitions, queue.placement, queue.max_running,
       queue.first_partition, queue.layout, queue.cap, queue.routed, queue.superseded_by
  FROM fireworq_queue
       STRAIGHT_JOIN queue
    ON queue.queue_id = fireworq_queue.queue_id
 WHERE fireworq_queue.hidden_at IS NULL;
