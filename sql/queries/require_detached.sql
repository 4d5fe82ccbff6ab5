-- Like require_task.sql.
SELECT ~0 + (COUNT(*) = 0)
  FROM task_running
 WHERE {my_detached}
   FOR UPDATE;
