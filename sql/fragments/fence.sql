-- The caller holds the partition, and goes on holding it until the end of this transaction (S1). A
-- scalar subquery: of EXISTS MySQL makes a join, and a DELETE then deletes the lease as well.
(SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
