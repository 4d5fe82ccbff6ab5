-- The same for a detached task.
UPDATE task_running
   SET headers = SUBSTRING(CONCAT(
         SUBSTRING_INDEX(COALESCE(CONCAT(CHAR(10), headers), ''), CONCAT(CHAR(10), :line), 1),
         CHAR(10), :line, :count), 2)
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder;
