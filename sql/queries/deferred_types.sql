-- What was put back in a partition because somebody had no handler for it, and where (S65).
SELECT prio, type, from_key, to_key
  FROM deferred_type
 WHERE queue_id = :queue_id AND partition_no = :partition_no
 ORDER BY prio, type;
