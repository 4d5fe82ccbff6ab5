-- A task with a unique key has ended: the key becomes free after its reservation if the task
-- :finished, and at once if it is dead. No fence, as in ack_history.sql: a task that exists
-- anywhere else has not ended. :first_keys as there.
-- Rule: S6.
UPDATE /*+ INDEX(task_unique task) */ task_unique
   SET free_at = UTC_TIMESTAMP(6) + INTERVAL IF(:finished, unique_for_us, 0) MICROSECOND
 WHERE {these_ids}
   AND free_at IS NULL
   AND {gone task_unique};
