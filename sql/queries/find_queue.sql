SELECT queue_id, name, partitions FROM queue WHERE name = :name;
