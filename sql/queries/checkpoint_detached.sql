UPDATE task_running
   SET payload = :payload, flags = flags & ~:compressed_flags | :stored_flags
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder;
