-- Who puts a queue of Fireworq's programs that is there waits for the others who do.
SELECT queue_id FROM fireworq_queue WHERE name = :name FOR UPDATE;
