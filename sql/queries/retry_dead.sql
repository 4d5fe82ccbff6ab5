-- Puts dead tasks of a partition back into it or, if their ordered or limited queue was resized
-- since, into the current partitions of their keys (:placed_queue is placed_queue.sql there). They
-- follow the due tasks, with all attempts again; counts that count_in_headers.sql wrote before are
-- removed from their headers. :first_keys as in ack_history.sql. The new keys go through task_moved
-- as in defer.sql. The records of their attempts are marked as earlier ones. The rows of task_dead
-- are locked first and deleted last: if two operators send this, one of them succeeds.
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
SELECT queue_id, :to_partition_no, prio, first_key,
       ({now} << 12) + :salt + FIELD(first_key, :ordered_keys)
  FROM task_dead FORCE INDEX (PRIMARY)
 WHERE {these_ids}
   FOR UPDATE
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
UPDATE /*+ INDEX(task_attempt PRIMARY) */ task_attempt
   SET retries_since = retries_since + 1, partition_no = :to_partition_no
 WHERE {these_ids}
   AND (SELECT 1 FROM task_dead WHERE {attempts_of task_dead} FOR UPDATE) = 1
 ORDER BY retries_since DESC;
INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, flags, key_hash, type, payload,
                  headers)
SELECT :placed_queue, :to_partition_no, prio,
       (SELECT moved.run_key
          FROM task_moved AS moved
         WHERE moved.queue_id = task_dead.queue_id
           AND moved.partition_no = :to_partition_no
           AND moved.prio = task_dead.prio
           AND moved.first_key = task_dead.first_key),
       first_key, flags & :kept_flags, key_hash, type, payload,
       NULLIF(SUBSTRING(SUBSTRING_INDEX(SUBSTRING_INDEX(
                CONCAT(CHAR(10), task_dead.headers),
                CONCAT(CHAR(10), 'verdicts='), 1), CONCAT(CHAR(10), 'unstarted='), 1), 2), '')
  FROM task_dead FORCE INDEX (PRIMARY)
 WHERE {these_ids}
   FOR UPDATE;
DELETE /*+ INDEX(task_dead PRIMARY) */ FROM task_dead
 WHERE {these_ids};
