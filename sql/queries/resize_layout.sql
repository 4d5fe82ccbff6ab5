-- Sends new tasks to other partitions. Locks the row: a transaction that placed a task by the
-- former layout has committed before, and a later one is refused (placed_queue.sql).
UPDATE queue
   SET partitions = :partitions, first_partition = :first_partition, layout = :layout
 WHERE queue_id = :queue_id AND layout = :layout - 1;
