-- Part of write_audit.sql: a queue with a rate.
SELECT :of_queue AS of_queue, NULL AS into_queue, NULL AS how_many
  FROM queue_rate WHERE queue_id = :queue_id
