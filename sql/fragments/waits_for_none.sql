-- The partition of `lease` does not wait for an existing task (S16).
(lease.hold_until IS NULL OR lease.hold_until <= {known_time}
        OR lease.hold_until < '9000-01-01' AND lease.of_epoch = lease.epoch
           AND lease.hold_key IS NOT NULL
           AND (SELECT run_key FROM task
                 WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no
                   AND prio = lease.hold_prio AND run_key = lease.hold_key) IS NULL)
