-- Like list_dead.sql, for one group.
SELECT partition_no, prio, first_key, first_key, attempt, type, LENGTH(payload),
       {moment died_at}, cause, error, fault
  FROM task_dead FORCE INDEX (error_group)
 WHERE queue_id = :queue_id AND error_group = :group AND {older died_at}
 ORDER BY queue_id DESC, error_group DESC, died_at DESC, partition_no DESC, prio DESC, first_key DESC
 LIMIT :limit;
