-- Estimate by the server of the waiting tasks of a queue, from the index; the column `rows`.
EXPLAIN FORMAT=TRADITIONAL SELECT 1 FROM task FORCE INDEX (PRIMARY) WHERE queue_id = :queue_id;
