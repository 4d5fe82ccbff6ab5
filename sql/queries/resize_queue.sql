-- The database owns the number (S17). Lease rows stay: the scout finds retired partitions also,
-- even after they are empty.
UPDATE queue SET partitions = :partitions WHERE queue_id = :queue_id;
