-- Is the task still there? For an acknowledgement whose reply was lost. FOR UPDATE, because its
-- transaction may still be about to end.
SELECT 1
  FROM task
 WHERE {this_task}
   FOR UPDATE;
