-- The partition of `lease` does not wait for an existing task (S16).
(lease.defer_until IS NULL OR lease.defer_until <= {known_time}
        OR lease.defer_until < '9000-01-01' AND lease.detail_epoch = lease.epoch
           AND lease.defer_key IS NOT NULL
           AND (SELECT run_key FROM task
                 WHERE queue_id = lease.queue_id AND partition_no = lease.partition_no
                   AND prio = lease.defer_prio AND run_key = lease.defer_key) IS NULL)
