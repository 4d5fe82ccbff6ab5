SELECT partition_no, prio, run_key, first_key, attempt, type, LENGTH(payload),
       DATE_FORMAT('2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ'),
       payload, lock_host, lock_pid,
       DATE_FORMAT(detached_at, '%Y-%m-%dT%H:%i:%s.%fZ'),
       DATE_FORMAT(expire_at, '%Y-%m-%dT%H:%i:%s.%fZ'), expire_at < UTC_TIMESTAMP(6),
       flags, lock_origin,
       IF(expire_at - INTERVAL ttl_us DIV 2 MICROSECOND < UTC_TIMESTAMP(6),
          DATE_FORMAT(expire_at - INTERVAL ttl_us MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ'), NULL),
       headers, progress, progress_word
  FROM task_running
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio = :prio AND first_key = :first_key;
