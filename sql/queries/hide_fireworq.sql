-- Deletes a queue, as far as Fireworq's programs see it: its tasks and its routings stay.
UPDATE fireworq_queue SET hidden_at = UTC_TIMESTAMP(6)
 WHERE queue_id = :queue_id AND hidden_at IS NULL;
