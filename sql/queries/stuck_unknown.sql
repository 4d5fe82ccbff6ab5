-- on_stuck: a deferred task without a handler for its type (defer.sql) that was first due that long
-- ago: its key only gives the next try. No row for a paused queue, as in stuck_waiting.sql.
SELECT task.partition_no, task.prio, task.first_key, task.type, task.attempt,
       {due_moment task.first_key},
       NULL, NULL, task.headers
  FROM task_moved AS moved
       STRAIGHT_JOIN task
    ON task.queue_id = moved.queue_id AND task.partition_no = moved.partition_no
   AND task.prio = moved.prio AND task.run_key = moved.run_key
 WHERE moved.queue_id = :queue_id AND moved.partition_no = :partition_no
   AND moved.prio = :prio AND moved.first_key = :first_key
   AND task.first_key = :first_key AND task.flags & :no_handler_flag <> 0
   AND moved.first_key < (TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                            UTC_TIMESTAMP(6) - INTERVAL :after_us MICROSECOND) << 12)
   AND NOT EXISTS (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id AND paused);
