-- Stores the payload from which further attempts of a running task start, compressed or not. Finds
-- nothing once the task is detached: see checkpoint_detached.sql.
UPDATE task
   SET payload = :payload, flags = flags & ~:compressed_flags | :stored_flags
 WHERE {this_task}
   AND {fence};
