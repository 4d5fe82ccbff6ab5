-- Is the task still there? For an acknowledgement whose reply was lost. FOR UPDATE, because its
-- transaction may still be about to end.
SELECT 1
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   FOR UPDATE;
