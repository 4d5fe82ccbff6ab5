-- Before tasks are put back, or their partition waits, in the same transaction: which types they have,
-- and where their new keys will be (S65). The statement that gives these keys may come later by as
-- long as a row's lock is waited for. :keys as in ack.sql.
INSERT INTO deferred_type (queue_id, partition_no, prio, type, from_key, to_key)
SELECT DISTINCT queue_id, partition_no, prio, type,
       (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us)
         + :delay_us) << 12,
       (GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)), :known_us)
         + :delay_us + :slack_us) << 12
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
    ON DUPLICATE KEY UPDATE from_key = LEAST(from_key, VALUES(from_key)), to_key = VALUES(to_key);
