SELECT epoch
  FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND lock_by = :holder;
