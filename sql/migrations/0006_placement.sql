-- Where the tasks of a queue go, until when they may begin, and whether their payload is compressed. The comments are ones that MariaDB
-- executes: a migration that was cut off is run again.

-- spread: over all partitions. The others put a task where its partition_key says: ordered, limited
-- to max_running at a time, or fair.
ALTER TABLE queue
  ADD COLUMN /*M!100002 IF NOT EXISTS */
    placement ENUM('spread', 'ordered', 'limited', 'fair') NOT NULL DEFAULT 'spread',
  ADD COLUMN /*M!100002 IF NOT EXISTS */ max_running SMALLINT UNSIGNED NOT NULL DEFAULT 1,
  ALGORITHM=INSTANT;

-- UTC; a task that has not begun by then is dead (A14).
ALTER TABLE task
  ADD COLUMN /*M!100002 IF NOT EXISTS */ expires_at DATETIME(6) NULL,
  ALGORITHM=INSTANT;

-- As in task: what of it says how the payload is compressed (A12) outlives the task.
ALTER TABLE task_dead
  ADD COLUMN /*M!100002 IF NOT EXISTS */ flags TINYINT UNSIGNED NOT NULL DEFAULT 0,
  ALGORITHM=INSTANT;

-- Which partition of a fair queue a key has. The row with the empty key is locked by whoever gives
-- partitions to keys, one at a time; it stands for no key.
CREATE TABLE IF NOT EXISTS fair_partition (
  queue_id      INT UNSIGNED NOT NULL,
  partition_key VARBINARY(255) NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (queue_id, partition_key)
) ENGINE=InnoDB;
