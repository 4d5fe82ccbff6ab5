-- All dead tasks of a queue after this one, page by page in the order of their keys. By the index
-- on died_at, MySQL would read and sort all of the queue for each page.
SELECT partition_no, prio, first_key, type, cause, fault, error_group,
       {moment died_at},
       {unix died_at}, died_at > UTC_TIMESTAMP(6)
  FROM task_dead FORCE INDEX (PRIMARY)
 WHERE queue_id = :queue_id
   AND {behind first_key}
 ORDER BY queue_id, partition_no, prio, first_key
 LIMIT :limit;
