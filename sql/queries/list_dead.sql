-- Newest first; the next page begins after a moment and a task, as in list_history.sql.
SELECT partition_no, prio, first_key, first_key, attempt, type, LENGTH(payload),
       {moment died_at}, cause, error, fault
  FROM task_dead
 WHERE queue_id = :queue_id AND {older died_at}
 ORDER BY queue_id DESC, died_at DESC, partition_no DESC, prio DESC, first_key DESC
 LIMIT :limit;
