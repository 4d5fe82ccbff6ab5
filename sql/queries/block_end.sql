-- The key of the first task behind a block, among those that are due; no row: the block has them all.
SELECT run_key
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
   AND run_key <= :due_key
 ORDER BY queue_id, partition_no, prio, run_key
 LIMIT :block_size, 1;
