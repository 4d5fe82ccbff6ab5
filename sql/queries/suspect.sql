-- Makes tasks suspect: each runs alone from now on, with its attempt recorded before (S7). After
-- the loss of a host these are the tasks that it may have been running. After the death of a worker
-- with several tasks in their handlers, none of which is known to be at fault, it is sent in one
-- transaction with the release, and nothing is charged. Without a bit and with :begun it only
-- records that the tasks have started, so that they no longer expire (A14).
-- Rule: S63.
UPDATE /*+ INDEX(task PRIMARY) */ task
   SET flags = flags | :suspect_flag, expires_at = IF(:begun, NULL, expires_at)
 WHERE {these_tasks}
   AND {fence};
