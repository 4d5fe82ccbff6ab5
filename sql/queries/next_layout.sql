-- Before a change of the routes of an ordered or limited queue, in its transaction: who looked for the
-- queue before, and submits later, is refused and looks again (placed_queue.sql). It waits for those
-- who submitted. The partitions stay.
UPDATE queue
   SET layout = layout + 1
 WHERE queue_id = :source_id;
