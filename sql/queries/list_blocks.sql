-- For each partition of a queue: whether it is leased, how many tasks its holder may have in
-- flight, and the key of a task that is due now.
SELECT partition_no, state <> 'FREE', block_size,
       ({now} << 12) | 4095
  FROM q_lock_table
 WHERE queue_id = :queue_id;
