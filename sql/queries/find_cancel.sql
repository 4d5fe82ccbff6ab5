SELECT reason, DATE_FORMAT(asked_at, '%Y-%m-%dT%H:%i:%s.%fZ'), as_done
  FROM task_cancel
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key;
