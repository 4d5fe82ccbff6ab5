-- New tasks go to other partitions. The row is locked: whoever placed a task by the former layout has
-- committed it before, and whoever does so after is refused (placed_queue.sql).
UPDATE queue
   SET partitions = :partitions, first_partition = :first_partition, layout = :layout
 WHERE queue_id = :queue_id AND layout = :layout - 1;
