-- Finished is finished: the one write that needs no fence (S6). Named with the class (S3).
DELETE FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (prio, run_key) IN (:keys);
