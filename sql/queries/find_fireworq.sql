-- A queue of Fireworq's programs by its name, also one that is deleted. Columns as in list_fireworq.sql.
SELECT fireworq_queue.queue_id, fireworq_queue.name, fireworq_queue.polling_interval,
       fireworq_queue.max_workers, fireworq_queue.max_dispatches_per_second,
       fireworq_queue.max_burst_size, fireworq_queue.hidden_at IS NOT NULL, queue.name,
       queue.partitions, queue.first_partition
  FROM fireworq_queue
  JOIN queue ON queue.queue_id = fireworq_queue.queue_id
 WHERE fireworq_queue.name = :name;
