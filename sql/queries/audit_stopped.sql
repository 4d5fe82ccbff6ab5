-- Part of write_audit.sql: a bulk action that has not ended.
SELECT (SELECT name FROM queue WHERE queue.queue_id = bulk_action.queue_id) AS of_queue,
       NULL AS into_queue, NULL AS how_many
  FROM bulk_action WHERE action_id = :action_id AND ended_at IS NULL
