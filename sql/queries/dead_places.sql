-- Values that decide where dead tasks of a partition go. :first_keys as in ack_history.sql.
SELECT prio, first_key, key_hash
  FROM task_dead
 WHERE {these_ids};
