-- An error is a message, one line, and where there is more to say the whole text, which names the line of
-- code (decision 0074): `error` has the message from here on. The fault is what groups of errors go by;
-- NULL: the error's text without what differs from task to task.
ALTER TABLE task_attempt ADD COLUMN detail MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
ALTER TABLE task_attempt ADD COLUMN fault VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
ALTER TABLE task_dead ADD COLUMN detail MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
ALTER TABLE task_dead ADD COLUMN fault VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
