-- Takes a free partition, or again one that this holder has: an earlier reply was lost, and its
-- expiry would be older than the holder can know. Not a partition that waits for an existing task
-- (S16); if that had no handler, a worker that has one need not wait (:passed_flag, S66).
UPDATE q_lock_table
   SET {new_holder},
       defer_until = NULL,
       block_size = :block_size
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (state = 'FREE' OR lock_by = :holder)
   AND (defer_until IS NULL OR defer_until <= {known_time}
        OR defer_until < '9000-01-01' AND detail_epoch = epoch AND defer_key IS NOT NULL
           AND (SELECT run_key FROM task
                 WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
                   AND task.prio = defer_prio AND task.run_key = defer_key
                   AND task.flags & :passed_flag = 0) IS NULL)
