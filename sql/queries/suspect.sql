-- Makes tasks suspect: each runs alone from now on, with its attempt written before (S7). After the
-- loss of a host these are the tasks that it may have been running. After the death of a worker with
-- several tasks in their handlers, none of which is known to be at fault, it is sent in one transaction
-- with the release, and nothing is charged. With no bit and :begun it only says that the tasks have
-- begun, so that they do not expire any more (A14).
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags | :suspect_flag, expires_at = IF(:begun, NULL, expires_at)
 WHERE {these_tasks}
   AND {fence};
