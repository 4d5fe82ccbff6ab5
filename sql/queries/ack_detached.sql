-- A detached task finished. Its row goes last, because it is the fence of the statements before.
-- Its attempts stay where the queue keeps a history, which keep_detached.sql wrote before.
DELETE FROM task_moved
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND (SELECT 1 FROM task_running
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND prio = :prio AND first_key = :first_key
           AND epoch = :epoch AND lock_by = :holder FOR UPDATE) = 1;
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND (SELECT 1 FROM task_running
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND prio = :prio AND first_key = :first_key
           AND epoch = :epoch AND lock_by = :holder FOR UPDATE) = 1
   AND (SELECT 1 FROM task_history
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND prio = :prio AND first_key = :first_key) IS NULL;
DELETE FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder;
