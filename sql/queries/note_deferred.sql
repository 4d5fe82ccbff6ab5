-- Runs before tasks are put back, or their partition waits, in the same transaction: records their
-- types, and the range of their new keys (S65). The statement that gives these keys may run later
-- by as long as a row lock is waited for. :keys as in ack.sql.
INSERT INTO deferred_type (queue_id, partition_no, prio, type, from_key, to_key)
SELECT DISTINCT queue_id, partition_no, prio, type,
       ({known_now} + :delay_us) << 12,
       ({known_now} + :delay_us + :slack_us) << 12
  FROM task
 WHERE {these_tasks}
   AND {fence}
    ON DUPLICATE KEY UPDATE from_key = LEAST(from_key, VALUES(from_key)), to_key = VALUES(to_key);
