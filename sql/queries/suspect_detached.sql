-- The same for a detached task, before it returns to its former place.
UPDATE task_running
   SET flags = flags | :suspect_flag
 WHERE {my_detached};
