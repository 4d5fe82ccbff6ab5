-- Key of the first due task after a block; no row: the block has all due tasks.
SELECT run_key
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
   AND run_key <= :due_key
 ORDER BY queue_id, partition_no, prio, run_key
 LIMIT :block_size, 1;
