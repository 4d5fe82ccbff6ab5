-- What goes with a task beside its payload (decision 0047): lines of name=value that Allot wrote, or
-- NULL, as in nearly all tasks. A worker of the version before runs such a task without them, and
-- drops them where it copies a row.
ALTER TABLE task ADD COLUMN headers VARBINARY(1024) NULL, ALGORITHM=INSTANT;
ALTER TABLE task_running ADD COLUMN headers VARBINARY(1024) NULL, ALGORITHM=INSTANT;
ALTER TABLE task_dead ADD COLUMN headers VARBINARY(1024) NULL, ALGORITHM=INSTANT;
ALTER TABLE task_history ADD COLUMN headers VARBINARY(1024) NULL, ALGORITHM=INSTANT;
