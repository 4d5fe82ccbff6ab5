-- Ends the wait of a layout's partitions, but not of partitions of a later layout.
UPDATE /*+ INDEX(q_lock_table PRIMARY) */ q_lock_table
   SET defer_until = NULL
 WHERE queue_id = :queue_id
   AND defer_until = CAST('9000-01-01' AS DATETIME(6)) + INTERVAL :layout SECOND;
