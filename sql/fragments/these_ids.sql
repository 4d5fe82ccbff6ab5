-- Rows that belong to tasks of a partition, by their ids: like {these_tasks}, with first keys.
queue_id = :queue_id AND partition_no = :partition_no AND (:first_keys)
