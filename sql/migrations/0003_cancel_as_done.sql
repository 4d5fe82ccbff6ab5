-- 1: the task ends as if it had succeeded, and is not dead.
ALTER TABLE task_cancel ADD COLUMN as_done TINYINT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
