-- Rows that belong to one task, by its id.
queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND first_key = :first_key
