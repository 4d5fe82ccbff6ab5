-- Locks the row of the partition first; with NOWAIT as the argument the statement fails if another
-- session has locked it (sql/README.md).
(0 OR EXISTS (SELECT 1 FROM (SELECT 1 FROM q_lock_table
                                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                                   LIMIT 1 FOR UPDATE {arg}) AS unlocked))
