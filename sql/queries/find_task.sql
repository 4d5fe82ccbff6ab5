-- Whether a task still exists, after an acknowledgement whose reply was lost. FOR UPDATE, because
-- its transaction may still be ending.
SELECT 1
  FROM task
 WHERE {this_task}
   FOR UPDATE;
