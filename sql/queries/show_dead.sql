SELECT partition_no, prio, first_key, first_key, attempt, type, LENGTH(payload),
       {moment died_at}, payload, cause, error, flags,
       key_hash, headers, detail, fault
  FROM task_dead
 WHERE {this_id};
