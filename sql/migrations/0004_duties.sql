-- Who leads a duty until free_at: the one process of its host that does the duties (holder), where it
-- runs, and since when. holder NULL: nobody, or a worker of the version before, which moves free_at
-- on and knows no more of the row. queue_id 0 is the cluster.
ALTER TABLE queue_duty ADD COLUMN holder BIGINT UNSIGNED NULL, ALGORITHM=INSTANT;
ALTER TABLE queue_duty ADD COLUMN holder_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
ALTER TABLE queue_duty ADD COLUMN holder_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
ALTER TABLE queue_duty ADD COLUMN holder_pid INT UNSIGNED NULL, ALGORITHM=INSTANT;
ALTER TABLE queue_duty ADD COLUMN since DATETIME(6) NULL, ALGORITHM=INSTANT;

-- When it was last done without an error, and what went wrong since then.
ALTER TABLE queue_duty ADD COLUMN last_run DATETIME(6) NULL, ALGORITHM=INSTANT;
ALTER TABLE queue_duty ADD COLUMN last_error VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, ALGORITHM=INSTANT;
