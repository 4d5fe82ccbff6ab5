-- One row of claim_unique.sql; :due is one of due_*.sql.
(:queue_id, :unique_key, :partition_no, :prio, :due + :offset, :claim, :keep_us)
