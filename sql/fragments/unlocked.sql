-- Without :wait, skips a partition whose row is locked (sql/README.md).
(:wait
        OR EXISTS (SELECT 1 FROM (SELECT 1 FROM q_lock_table
                                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                                   LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked))
