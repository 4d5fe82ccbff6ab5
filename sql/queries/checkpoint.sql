-- Gives a running task the payload from which further attempts start, compressed or not. Finds nothing once the task
-- was detached: checkpoint_detached.sql is for that.
UPDATE task
   SET payload = :payload, flags = flags & ~:compressed_flags | :stored_flags
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
