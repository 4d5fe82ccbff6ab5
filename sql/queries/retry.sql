-- Gives the task a later key; task_moved first (new_keys.sql). No join: a key stays the only access
-- path to the row. FOR UPDATE as in record_attempt.sql, the number of attempts as in charge.sql.
-- The task has started, so it no longer expires (A14).
-- Rule: S63.
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key),
       (({known_now} + :delay_us) << 12) + :salt
  FROM task
 WHERE {this_task}
   AND {fence}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE task
   SET attempt = GREATEST(LEAST(attempt, :at_most), :at_least),
       flags = flags & :keep_flags,
       expires_at = NULL,
       {new_keys}
 WHERE {this_task}
   AND {fence};
