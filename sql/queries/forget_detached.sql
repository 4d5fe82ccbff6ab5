DELETE FROM task_attempt
 WHERE {this_id} AND retries_since = 0 AND attempt = :attempt
   AND {detached_fence};
