-- Deletes an attempt that was written before it ran (S7) and is not charged: it goes with snooze
-- and refund, in the same transaction.
DELETE FROM task_attempt
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key AND life = 0 AND attempt = :attempt
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1;
