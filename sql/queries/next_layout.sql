-- Runs before a change of the routes of an ordered or limited queue, in its transaction: a
-- submitter that read the queue before, and submits later, is refused and reads again
-- (placed_queue.sql). Waits for open transactions that have submitted. The partitions stay.
UPDATE queue
   SET layout = layout + 1
 WHERE queue_id = :source_id;
