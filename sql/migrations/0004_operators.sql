-- What operators do: pause a queue, give dead tasks another life.

-- A queue that has a row here is paused: nobody leases its partitions.
CREATE TABLE IF NOT EXISTS queue_pause (
  queue_id  INT UNSIGNED NOT NULL,
  paused_at DATETIME(6) NOT NULL,                       -- UTC
  reason    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (queue_id)
) ENGINE=InnoDB;

-- MySQL has no ADD COLUMN IF NOT EXISTS, and a migration that was cut off is run again.
SET @alter = IF((SELECT COUNT(*) FROM information_schema.columns
                  WHERE table_schema = DATABASE() AND table_name = 'task_attempt'
                    AND column_name = 'life') > 0, 'DO 0',
  'ALTER TABLE task_attempt
     ADD COLUMN life SMALLINT UNSIGNED NOT NULL DEFAULT 0,
     DROP PRIMARY KEY,
     ADD PRIMARY KEY (queue_id, partition_no, prio, first_key, life, attempt)');
PREPARE alter_table FROM @alter;
EXECUTE alter_table;

-- The newest first; only tasks that die pay for it.
SET @alter = IF((SELECT COUNT(*) FROM information_schema.statistics
                  WHERE table_schema = DATABASE() AND table_name = 'task_dead'
                    AND index_name = 'died_at') > 0, 'DO 0',
  'ALTER TABLE task_dead ADD KEY died_at (queue_id, died_at)');
PREPARE alter_table FROM @alter;
EXECUTE alter_table;
DEALLOCATE PREPARE alter_table;
