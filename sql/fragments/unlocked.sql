-- Without :wait, skips a partition whose row is locked. The test for the lock has to come first, on
-- both servers: the form is explained in docs/database.md. MySQL refuses a subquery on the table that
-- is written unless it is a derived table with a LIMIT.
(:wait
        OR EXISTS (SELECT 1 FROM (SELECT 1 FROM q_lock_table
                                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                                   LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked))
