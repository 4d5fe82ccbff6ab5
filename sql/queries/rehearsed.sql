-- What a burial in rehearsal.cc left: the lease's row and the dead task, and nothing else; and the
-- session that says so.
SELECT (SELECT COUNT(*) FROM q_lock_table WHERE queue_id = :queue_id AND partition_no = :partition_no),
       (SELECT COUNT(*) FROM task_dead
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND first_key = :first_key),
       (SELECT COUNT(*) FROM task
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND run_key = :run_key),
       (SELECT COUNT(*) FROM task_moved
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND first_key = :first_key),
       CONNECTION_ID();
