-- Another number of tasks of a key at a time, behind begin_layout.sql (S69). The partitions of a key stay
-- the first ones from its hash on, so that those of the larger number have those of the smaller one
-- among them. The next layout: a submission that has placed by the former number and comes behind
-- this is refused (placed_queue.sql).
UPDATE queue
   SET max_running = :max_running, layout = layout + 1
 WHERE queue_id = :queue_id AND max_running <> :max_running;
