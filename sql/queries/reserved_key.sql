-- The same for a task with a unique key: NULL if the reservation is not ours, so that no task exists.
(SELECT first_key FROM task_unique
  WHERE queue_id = :queue_id AND unique_key = :unique_key AND reservation = :reservation)
