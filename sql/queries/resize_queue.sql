-- The database owns the number (S17). Lease rows stay: the scout also finds retired partitions
-- until they are empty, and after.
UPDATE queue SET partitions = :partitions WHERE queue_id = :queue_id;
