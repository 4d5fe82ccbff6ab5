-- How many tasks of a queue the server believes to wait, from its look at the index; the column `rows`.
EXPLAIN FORMAT=TRADITIONAL SELECT 1 FROM task FORCE INDEX (PRIMARY) WHERE queue_id = :queue_id;
