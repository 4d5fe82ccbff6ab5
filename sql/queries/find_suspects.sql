-- Tasks that the lost holder may have been running (S7): the first :per_class of each class that
-- were due when its lease was taken over or reclaimed. Payload sizes limit how many are marked by
-- one statement.
(SELECT prio, run_key, LENGTH(payload)
   FROM task
  WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 0 AND run_key <= :suspect_to
  ORDER BY run_key
  LIMIT :per_class)
UNION ALL
(SELECT prio, run_key, LENGTH(payload)
   FROM task
  WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND run_key <= :suspect_to
  ORDER BY run_key
  LIMIT :per_class)
UNION ALL
(SELECT prio, run_key, LENGTH(payload)
   FROM task
  WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 2 AND run_key <= :suspect_to
  ORDER BY run_key
  LIMIT :per_class)
UNION ALL
(SELECT prio, run_key, LENGTH(payload)
   FROM task
  WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 3 AND run_key <= :suspect_to
  ORDER BY run_key
  LIMIT :per_class);
