-- Like require_task.sql.
SELECT ~0 + (COUNT(*) = 0)
  FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder
   FOR UPDATE;
