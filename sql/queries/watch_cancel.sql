-- A task has run in its partition for a second: from now on its worker looks for requests to cancel
-- it, and a cancel makes one. No match: the lease is gone, or somebody took the task out.
UPDATE task
   SET flags = flags | :cancel_watched_flag
 WHERE {this_task}
   AND {fence};
