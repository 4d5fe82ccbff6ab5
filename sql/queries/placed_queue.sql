-- The queue_id in a row of submit.sql, submit_unique.sql or retry_dead.sql, if the queue is ordered
-- or limited. Fails (1690, out of range) if the layout that placed the task is not current any
-- more: the queue was resized, or its routes changed. The lock stays until the commit, and
-- resize_layout.sql and next_layout.sql wait for it.
-- Rule: S17.
(SELECT queue_id + ~0 * (layout <> :layout) FROM queue WHERE queue_id = :queue_id LOCK IN SHARE MODE)
