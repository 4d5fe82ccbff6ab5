-- Queues of Fireworq's programs with names between these two, by name; deleted ones included.
SELECT fireworq_queue.queue_id, fireworq_queue.name, fireworq_queue.polling_interval,
       queue.cap, fireworq_queue.max_dispatches_per_second,
       fireworq_queue.max_burst_size, fireworq_queue.hidden_at IS NOT NULL, queue.name,
       queue.partitions, queue.first_partition
  FROM fireworq_queue
       STRAIGHT_JOIN queue
    ON queue.queue_id = fireworq_queue.queue_id
 WHERE fireworq_queue.name BETWEEN :first_name AND :last_name
 ORDER BY fireworq_queue.name;
