-- The same for a detached task.
UPDATE task_running
   SET headers = SUBSTRING(CONCAT(
         SUBSTRING_INDEX(COALESCE(CONCAT(CHAR(10), headers), ''), CONCAT(CHAR(10), :line), 1),
         CHAR(10), :line, :count), 2)
 WHERE {my_detached};
