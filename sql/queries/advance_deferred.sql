-- Runs before tasks are called forward: further tasks of their type have later keys (S66).
UPDATE deferred_type
   SET from_key = :from_key
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND type = :type
   AND {fence};
