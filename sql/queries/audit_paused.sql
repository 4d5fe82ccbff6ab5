-- Part of write_audit.sql: a queue that is paused.
SELECT :of_queue AS of_queue, NULL AS into_queue, NULL AS how_many
  FROM queue_pause WHERE queue_id = :queue_id AND paused
