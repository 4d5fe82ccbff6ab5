-- Makes the partitions of a new layout, which are empty and not leased, wait for the former layout:
-- until a time that never comes and names the layout. lift_layout.sql ends the wait. FORCE INDEX as
-- in scout.sql.
-- Rule: S17.
UPDATE /*+ INDEX(q_lock_table PRIMARY) */ q_lock_table
   SET defer_until = CAST('9000-01-01' AS DATETIME(6)) + INTERVAL :layout SECOND
 WHERE queue_id = :queue_id
   AND partition_no >= :first_partition AND partition_no < :first_partition + :partitions
   AND state = 'FREE'
   AND (SELECT run_key FROM task FORCE INDEX (PRIMARY)
         WHERE task.queue_id = q_lock_table.queue_id
           AND task.partition_no = q_lock_table.partition_no
         LIMIT 1) IS NULL;
