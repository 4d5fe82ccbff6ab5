-- Runs after the suspects are marked (suspect.sql): the row no longer names them (S7).
UPDATE q_lock_table
   SET suspect_to = NULL, suspect_n = 0
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE';
