-- The database owns the number (S17). Lease rows stay: those of partitions that are no more among
-- the first ones are found by the scout until they are empty, and after.
UPDATE queue SET partitions = :partitions WHERE queue_id = :queue_id;
