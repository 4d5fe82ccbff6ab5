-- Changes the limit of tasks per key, after begin_layout.sql (S69). The partitions of a key stay
-- the first ones from its hash on, so that the larger set includes the smaller one. The next
-- layout: a later submission that was placed by the former number is refused (placed_queue.sql).
UPDATE queue
   SET max_running = :max_running, layout = layout + 1
 WHERE queue_id = :queue_id AND max_running <> :max_running;
