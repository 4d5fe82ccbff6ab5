-- Tasks with these keys that run: detached, or cancel-watched and due in a leased partition, as in
-- request_cancel.sql. Sent only by a submission whose keys were taken; locks nothing.
SELECT owner.partition_no, owner.prio, owner.first_key
  FROM task_unique AS owner FORCE INDEX (PRIMARY)
 WHERE owner.queue_id = :queue_id AND owner.unique_key IN (:unique_keys)
   AND ((SELECT 1 FROM task_running AS running
          WHERE running.queue_id = owner.queue_id AND running.partition_no = owner.partition_no
            AND running.prio = owner.prio AND running.first_key = owner.first_key) = 1
     OR (SELECT 1 FROM task
           JOIN q_lock_table AS lease
             ON lease.queue_id = task.queue_id AND lease.partition_no = task.partition_no
          WHERE task.queue_id = owner.queue_id AND task.partition_no = owner.partition_no
            AND task.prio = owner.prio AND task.run_key = owner.first_key
            AND COALESCE(task.first_key, task.run_key) = owner.first_key
            AND task.flags & :cancel_watched_flag <> 0 AND lease.state <> 'FREE'
            AND ({now} << 12) + 4095
                  >= task.run_key) = 1
     OR (SELECT 1 FROM task_moved AS moved
           JOIN task
             ON task.queue_id = moved.queue_id AND task.partition_no = moved.partition_no
            AND task.prio = moved.prio AND task.run_key = moved.run_key
           JOIN q_lock_table AS lease
             ON lease.queue_id = task.queue_id AND lease.partition_no = task.partition_no
          WHERE moved.queue_id = owner.queue_id AND moved.partition_no = owner.partition_no
            AND moved.prio = owner.prio AND moved.first_key = owner.first_key
            AND task.first_key = owner.first_key
            AND task.flags & :cancel_watched_flag <> 0 AND lease.state <> 'FREE'
            AND ({now} << 12) + 4095
                  >= task.run_key) = 1);
