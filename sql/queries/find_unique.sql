-- The task that has a unique key, or had it while the key is still reserved, and where that task
-- is. One statement, so that the task is seen in one place.
SELECT owner.partition_no, owner.prio, owner.first_key,
       DATE_FORMAT(LEAST(owner.free_at, UTC_TIMESTAMP(6) + INTERVAL owner.unique_for_us MICROSECOND),
                   '%Y-%m-%dT%H:%i:%s.%fZ'),
       (SELECT task.run_key FROM task
         WHERE task.queue_id = owner.queue_id AND task.partition_no = owner.partition_no
           AND task.prio = owner.prio
           AND task.run_key = COALESCE(
                 (SELECT moved.run_key FROM task_moved AS moved
                   WHERE moved.queue_id = owner.queue_id
                     AND moved.partition_no = owner.partition_no
                     AND moved.prio = owner.prio AND moved.first_key = owner.first_key),
                 owner.first_key)
           AND COALESCE(task.first_key, task.run_key) = owner.first_key) >> 12
         <= {now},
       (SELECT lease.state <> 'FREE' FROM q_lock_table AS lease
         WHERE lease.queue_id = owner.queue_id AND lease.partition_no = owner.partition_no),
       (SELECT 1 FROM task_running
         WHERE task_running.queue_id = owner.queue_id
           AND task_running.partition_no = owner.partition_no
           AND task_running.prio = owner.prio AND task_running.first_key = owner.first_key),
       (SELECT 1 FROM task_dead
         WHERE task_dead.queue_id = owner.queue_id
           AND task_dead.partition_no = owner.partition_no
           AND task_dead.prio = owner.prio AND task_dead.first_key = owner.first_key)
  FROM task_unique AS owner
 WHERE owner.queue_id = :queue_id AND owner.unique_key = :unique_key
   AND (owner.free_at IS NULL OR owner.free_at > UTC_TIMESTAMP(6));
