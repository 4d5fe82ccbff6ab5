-- The last key of a class in the partition of `lease`; otherwise like {head}.
(SELECT run_key FROM task FORCE INDEX (PRIMARY) WHERE queue_id = lease.queue_id
                       AND partition_no = lease.partition_no AND prio = {arg}
                     ORDER BY queue_id DESC, partition_no DESC, prio DESC, run_key DESC LIMIT 1)
