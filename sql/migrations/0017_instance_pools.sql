-- What the pools of an instance serve, as JSON: [{"name": "default", "workers": 4, "queues": ["mail"]}].
-- NULL: an earlier version of its steward wrote the row.
ALTER TABLE instance ADD COLUMN pools MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
