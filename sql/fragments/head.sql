-- The first key of a class in the partition of `lease`. Ordered by the whole key: for run_key alone
-- MySQL sorts the class. FORCE INDEX: if its statistics still say that the table is empty, MariaDB
-- 11 reads all of it.
(SELECT run_key FROM task FORCE INDEX (PRIMARY)
          WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no AND prio = {arg}
          ORDER BY queue_id, partition_no, prio, run_key LIMIT 1)
