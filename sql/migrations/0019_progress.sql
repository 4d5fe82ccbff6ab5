-- How far a detached task is, as its handler says for people, and the last lines that a failed attempt
-- logged (decision 0085).
ALTER TABLE task_running ADD COLUMN progress TINYINT UNSIGNED NULL, ALGORITHM=INSTANT;
ALTER TABLE task_running ADD COLUMN progress_word VARCHAR(47) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
ALTER TABLE task_attempt ADD COLUMN log_lines TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
