SELECT payload
  FROM task
 WHERE {this_task};
