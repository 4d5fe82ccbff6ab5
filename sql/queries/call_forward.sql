-- For a worker with the handler: deferred tasks get their former places again, which are their
-- first keys (S66). A first key in the future, from a clock that was ahead, counts as now, in the
-- order of :first_keys. :keys as in ack.sql. Otherwise like defer.sql.
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key),
       IF(COALESCE(first_key, run_key) <= {known_now} << 12,
          COALESCE(first_key, run_key),
          ({known_now} << 12)
            + FIELD(COALESCE(first_key, run_key), :first_keys)) + :salt
  FROM task
 WHERE {these_tasks}
   AND {fence}
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags & ~:no_handler_flag,
       {new_keys}
 WHERE {these_tasks}
   AND {fence};
