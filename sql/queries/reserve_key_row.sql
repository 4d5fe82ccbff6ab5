-- One row of reserve_key.sql; :due is one of due_*.sql.
(:queue_id, :unique_key, :partition_no, :prio, :due + :offset, :reservation, :unique_for_us)
