-- For a task that has run in its partition for a second: from now on its worker polls for requests
-- to cancel it, and a cancel makes one. No match: the lease is gone, or the task was taken out.
UPDATE task
   SET flags = flags | :cancel_watched_flag
 WHERE {this_task}
   AND {fence};
