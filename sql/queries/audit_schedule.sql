-- Part of write_audit.sql: a schedule; with :version only if unchanged, with :paused only if
-- paused.
SELECT queue AS of_queue, NULL AS into_queue, NULL AS how_many
  FROM schedule
 WHERE name = :name AND (:version = 0 OR version = :version)
   AND (:paused = 0 OR paused_at IS NOT NULL)
