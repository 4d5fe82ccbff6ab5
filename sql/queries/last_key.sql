-- The last task of a partition and class: what is submitted to an ordered queue comes behind it, also
-- when the clock was set back. In an order as in scout.sql; no lock.
SELECT run_key
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
 ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC
 LIMIT 1;
