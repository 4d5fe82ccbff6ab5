-- Runs after the guards of a batch and before its work: stores the progress after the batch.
UPDATE bulk_action
   SET state = IF(:last, 'done', 'running'),
       batches = batches + 1, done = done + :tasks,
       after_partition_no = :partition_no, after_prio = :prio, after_key = :first_key,
       next_at = UTC_TIMESTAMP(6) + INTERVAL :gap_us MICROSECOND,
       ended_at = IF(:last, UTC_TIMESTAMP(6), NULL)
 WHERE action_id = :action_id;
