-- Tasks after a key: page by page, like page_waiting.sql.
SELECT partition_no, prio, run_key, first_key, attempt, type, LENGTH(payload),
       {due_moment run_key}
  FROM task
 WHERE queue_id = :queue_id
   AND {behind run_key}
 ORDER BY queue_id, partition_no, prio, run_key
 LIMIT :limit;
