SELECT queue_id, name, partitions, placement, max_running FROM queue WHERE name = :name;
