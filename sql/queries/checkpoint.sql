-- Gives a running task the payload from which further attempts start, compressed or not. Finds nothing once the task
-- was detached: checkpoint_detached.sql is for that.
UPDATE task
   SET payload = :payload, flags = flags & ~:compressed_flags | :stored_flags
 WHERE {this_task}
   AND {fence};
