-- Deletes dead tasks and the records of their attempts permanently. :first_keys as in
-- ack_history.sql.
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE {these_ids}
   AND (SELECT 1 FROM task_dead WHERE {attempts_of task_dead} FOR UPDATE) = 1;
DELETE /*+ INDEX(task_dead PRIMARY) */ FROM task_dead
 WHERE {these_ids};
