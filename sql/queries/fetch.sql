-- Reads the head of a leased partition. Marks nothing, because the lease is the claim. The IN list
-- over all classes keeps this a range scan if a class holds only tasks that are due later.
-- :started, as the keys of ack.sql or FALSE, names tasks whose payload is not needed again.
-- Rules: S15, S19.
SELECT prio, run_key, first_key, attempt, type, LENGTH(payload),
       IF(LENGTH(payload) <= :inline_limit AND NOT (:started), payload, NULL), flags,
       GREATEST(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires_at), 0),
       headers,
       GREATEST({now} - CAST(run_key >> 12 AS SIGNED), 0)
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio IN (0, 1, 2, 3)
   AND run_key <= GREATEST({last_due_key}, :highest_seen)
 ORDER BY prio, run_key
 LIMIT :block_size;
