-- The queue_id in a row of submit.sql, submit_unique.sql or retry_dead.sql, where the queue is
-- ordered or limited: an error (1690, out of range) when the task was placed by a layout that is not
-- the queue's any more. The lock stays until that is committed, and resize_layout.sql waits for it.
(SELECT queue_id + ~0 * (layout <> :layout) FROM queue WHERE queue_id = :queue_id LOCK IN SHARE MODE)
