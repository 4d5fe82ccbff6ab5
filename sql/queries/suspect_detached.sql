-- The same for a detached task, before it goes back to where it was.
UPDATE task_running
   SET flags = flags | :suspect_flag
 WHERE {my_detached};
