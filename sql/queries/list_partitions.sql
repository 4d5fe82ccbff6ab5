-- Partitions of a queue that may have been leased already (0 to before the first column), and those
-- that have a lease row. The last task's partition counts, too: its row may be the missing one.
SELECT GREATEST(first_partition + partitions,
                COALESCE((SELECT partition_no + 1 FROM q_lock_table FORCE INDEX (PRIMARY)
                           WHERE queue_id = :queue_id
                           ORDER BY queue_id DESC, partition_no DESC LIMIT 1), 0),
                COALESCE((SELECT partition_no + 1 FROM task FORCE INDEX (PRIMARY)
                           WHERE queue_id = :queue_id
                           ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC LIMIT 1), 0))
  FROM queue
 WHERE queue_id = :queue_id;
SELECT partition_no FROM q_lock_table WHERE queue_id = :queue_id;
