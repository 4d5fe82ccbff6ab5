-- The partitions of a layout wait no more; not those of a later one.
UPDATE q_lock_table
   SET hold_until = NULL
 WHERE queue_id = :queue_id
   AND hold_until = CAST('9000-01-01' AS DATETIME(6)) + INTERVAL :layout SECOND;
