-- A waiting task, by its key.
queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND run_key = :run_key
