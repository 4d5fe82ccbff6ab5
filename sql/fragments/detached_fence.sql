-- Holds if the caller runs this detached task, until the end of this transaction.
(SELECT 1 FROM task_running
         WHERE {my_detached} FOR UPDATE) = 1
