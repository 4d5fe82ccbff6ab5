-- The first due tasks of a class, with the size of their payloads.
(SELECT prio, run_key, LENGTH(payload)
   FROM task
  WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = {arg} AND run_key <= :suspect_to
  ORDER BY run_key
  LIMIT :per_class)
