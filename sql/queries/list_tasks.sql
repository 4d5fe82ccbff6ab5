-- The tasks behind a key: page by page, like page_waiting.sql.
SELECT partition_no, prio, run_key, first_key, attempt, type, LENGTH(payload),
       DATE_FORMAT('2025-01-01' + INTERVAL (run_key >> 12) MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ')
  FROM task
 WHERE queue_id = :queue_id
   AND (partition_no > :partition_no
        OR partition_no = :partition_no AND prio > :prio
        OR partition_no = :partition_no AND prio = :prio AND run_key > :run_key)
 ORDER BY queue_id, partition_no, prio, run_key
 LIMIT :most;
