-- Part of write_audit.sql: a slot of a named lock; with :epoch only if it is held and unchanged.
SELECT NULL AS of_queue, NULL AS into_queue, NULL AS how_many
  FROM named_lock
 WHERE name = :name AND slot = :slot AND (:epoch = 0 OR (epoch = :epoch AND state <> 'FREE'))
