-- Locks the row of the partition first; with NOWAIT as the argument the statement fails if another
-- session has locked it. The test for the lock has to come first, on both servers. MySQL refuses a
-- subquery on the table that is written unless it is a derived table with a LIMIT.
(0 OR EXISTS (SELECT 1 FROM (SELECT 1 FROM q_lock_table
                                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                                   LIMIT 1 FOR UPDATE {arg}) AS unlocked))
