-- Makes concurrent puts of an existing Fireworq queue wait for each other.
SELECT queue_id FROM fireworq_queue WHERE name = :name FOR UPDATE;
