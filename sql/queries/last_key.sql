-- The last task of a partition and class: tasks submitted to an ordered queue are placed after it,
-- even if the clock was set back. Order as in scout.sql; no lock.
SELECT run_key
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
 ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC
 LIMIT 1;
