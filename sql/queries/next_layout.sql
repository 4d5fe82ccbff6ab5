-- Before a change of the routes of an ordered or limited queue, in its transaction: whoever looked for
-- the queue before, and submits later, is refused and looks again (placed_queue.sql). It waits for
-- those that have submitted. The partitions stay.
UPDATE queue
   SET layout = layout + 1
 WHERE queue_id = :source_id;
