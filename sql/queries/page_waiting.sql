-- All waiting tasks of a queue, page by page in the order of their keys, like page_dead.sql.
SELECT partition_no, prio, run_key, COALESCE(first_key, run_key), type, flags
  FROM task
 WHERE queue_id = :queue_id
   AND {behind run_key}
 ORDER BY queue_id, partition_no, prio, run_key
 LIMIT :limit;
