-- Waiting tasks of a partition. Tasks are named with their class (S3): :keys is "prio = 0 AND
-- run_key IN (...) OR prio = 1 AND ...", one list for each class.
queue_id = :queue_id AND partition_no = :partition_no AND (:keys)
