-- Rows left by a burial in rehearsal.cc: the lease's row and the dead task only; and the session
-- that reports them.
SELECT (SELECT COUNT(*) FROM q_lock_table WHERE queue_id = :queue_id AND partition_no = :partition_no),
       (SELECT COUNT(*) FROM task_dead
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND first_key = :first_key),
       (SELECT COUNT(*) FROM task
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND run_key = :run_key),
       (SELECT COUNT(*) FROM task_moved
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND first_key = :first_key),
       CONNECTION_ID();
