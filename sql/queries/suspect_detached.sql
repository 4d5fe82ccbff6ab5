-- The same for a detached task, before it goes back to where it was.
UPDATE task_running
   SET flags = flags | :suspect_flag
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder;
