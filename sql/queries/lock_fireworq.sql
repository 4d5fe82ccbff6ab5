-- A client that puts a queue of Fireworq's programs that is there waits for the others that do.
SELECT queue_id FROM fireworq_queue WHERE name = :name FOR UPDATE;
