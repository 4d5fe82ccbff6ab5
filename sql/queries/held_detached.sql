SELECT epoch
  FROM task_running
 WHERE {this_id}
   AND lock_by = :holder;
