SELECT partition_no, prio, first_key, first_key, attempt, type, LENGTH(payload),
       DATE_FORMAT(died_at, '%Y-%m-%dT%H:%i:%s.%fZ'), payload, cause, error, flags,
       key_hash, headers, detail, fault
  FROM task_dead
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key;
