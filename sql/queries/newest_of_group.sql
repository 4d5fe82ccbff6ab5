-- The dead task of a group with the latest death.
SELECT partition_no, prio, first_key, type, cause, fault, error_group,
       {moment died_at},
       {unix died_at}, died_at > UTC_TIMESTAMP(6)
  FROM task_dead FORCE INDEX (error_group)
 WHERE queue_id = :queue_id AND error_group = :group
 ORDER BY queue_id DESC, error_group DESC, died_at DESC
 LIMIT 1;
