-- What the pools of an instance serve: a line for each with its name, the number of its workers and its
-- queues. NULL: an earlier version of its steward wrote the row.
ALTER TABLE instance ADD COLUMN pools MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
