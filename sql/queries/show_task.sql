-- Finds a task by its public id: the row at its first key, or at the key that task_moved names. The
-- current key of a moved task is not an id.
SELECT task.partition_no, task.prio, task.run_key, task.first_key, task.attempt, task.type,
       LENGTH(task.payload),
       {due_moment task.run_key},
       task.payload, lease.state, lease.lock_host, lease.lock_pid, task.flags,
       {moment task.expires_at}, task.key_hash,
       task.headers
  FROM task
  JOIN q_lock_table AS lease
    ON lease.queue_id = task.queue_id AND lease.partition_no = task.partition_no
 WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no AND task.prio = :prio
   AND task.run_key = COALESCE(
         (SELECT run_key FROM task_moved
           WHERE {this_id}), :first_key)
   AND COALESCE(task.first_key, task.run_key) = :first_key;
