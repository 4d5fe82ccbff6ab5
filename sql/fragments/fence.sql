-- Holds if the caller holds the partition, and keeps it until the end of this transaction (S1). A
-- scalar subquery: MySQL turns EXISTS into a join, and a DELETE then also deletes the lease.
(SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE) = 1
