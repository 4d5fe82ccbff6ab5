-- The progress of a detached task goes with its renewal, so that it costs no statement of its own.
UPDATE task_running
   SET expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       progress = :progress, progress_word = :progress_word
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key
   AND epoch = :epoch AND lock_by = :holder;
