-- For tasks whose types have no handler here: moves them 30 s ahead without charging an attempt
-- (S65). :keys as in ack.sql. The new keys go through task_moved as in retry.sql; FIELD keeps the
-- order. (Not a window function: with one, MariaDB 10.11 ignores conditions in WHERE next to a
-- single row's key. No FOR UPDATE after the SELECT: for many keys it may read, and then lock, all
-- of a small table.)
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key),
       (({known_now} + :delay_us) << 12) + :salt + FIELD(run_key, :run_keys)
  FROM task
 WHERE {these_tasks}
   AND {fence}
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags | :no_handler_flag,
       {new_keys}
 WHERE {these_tasks}
   AND {fence};
