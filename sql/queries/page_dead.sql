-- All dead tasks of a queue, page by page in the order of their keys: those after this one. MySQL would take
-- the index by died_at, read all of the queue, and sort it, for each page.
SELECT partition_no, prio, first_key, type, cause, fault, error_group,
       {moment died_at},
       {unix died_at}, died_at > UTC_TIMESTAMP(6)
  FROM task_dead FORCE INDEX (PRIMARY)
 WHERE queue_id = :queue_id
   AND {behind first_key}
 ORDER BY queue_id, partition_no, prio, first_key
 LIMIT :most;
