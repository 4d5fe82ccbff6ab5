DELETE FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key AND life = 0 AND attempt = :attempt
   AND (SELECT 1 FROM task_running
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND prio = :prio AND first_key = :first_key
           AND epoch = :epoch AND lock_by = :holder FOR UPDATE) = 1;
