-- Of each partition of a queue: whether somebody leases it, how many tasks he may have in flight, and
-- which key a task has that is due now.
SELECT partition_no, state <> 'FREE', block_size,
       ({now} << 12) | 4095
  FROM q_lock_table
 WHERE queue_id = :queue_id;
