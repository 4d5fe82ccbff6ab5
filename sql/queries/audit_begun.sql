-- Part of write_audit.sql: a bulk action that begin_bulk.sql has begun or found.
SELECT (SELECT name FROM queue WHERE queue.queue_id = bulk_action.queue_id) AS of_queue,
       NULL AS into_queue, counted AS how_many
  FROM bulk_action WHERE token = :token
