-- Deletes by key, in the order of the table, rows that still ended before :before (S46). The
-- attempts are deleted first, so that a reader never finds an attempt without its task; any task
-- may have some, also one that was retried from the dead and succeeded at once. :first_keys as in
-- ack_history.sql, of one partition.
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE {these_ids}
   AND (SELECT 1 FROM task_history WHERE {attempts_of task_history}
           AND task_history.ended_at < :before FOR UPDATE) = 1;
DELETE /*+ INDEX(task_history PRIMARY) */ FROM task_history
 WHERE {these_ids}
   AND ended_at < :before;
