-- A finished task is finished, so this is the one write that needs no fence (S6). Tasks are named
-- with their class (S3): :keys is "prio = 0 AND run_key IN (...) OR prio = 1 AND ...", one list for
-- each class.
DELETE /*+ INDEX(task PRIMARY) */ FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (:keys);
