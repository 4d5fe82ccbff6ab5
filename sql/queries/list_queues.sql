SELECT queue_id, name, partitions FROM queue ORDER BY name;
