DELETE FROM task_attempt
 WHERE {this_id} AND life = 0 AND attempt = :attempt
   AND {detached_fence};
