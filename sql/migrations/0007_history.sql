-- What became of finished tasks (C10), and who does what only one is to do.

-- Finished tasks of queues that keep a history. Who has no history pays nothing for it: no other
-- table refers to this one. The record of the attempt that succeeded is here, those before it are in
-- task_attempt.
CREATE TABLE IF NOT EXISTS task_history (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,                -- with the three before it: the public id
  attempt      TINYINT UNSIGNED NOT NULL,               -- the number of the one that succeeded
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  ended_at     DATETIME(6) NOT NULL,                    -- UTC
  lock_host    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid     INT UNSIGNED NOT NULL,
  runtime_us   BIGINT UNSIGNED NULL,                    -- as in task_attempt
  cpu_us       BIGINT UNSIGNED NULL,
  max_rss_kib  BIGINT UNSIGNED NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY ended_at (queue_id, ended_at)                     -- the newest first, and the purge
) ENGINE=InnoDB;

-- A duty of a queue that one worker at a time does: whoever moves free_at on.
CREATE TABLE IF NOT EXISTS queue_duty (
  queue_id INT UNSIGNED NOT NULL,
  duty     VARCHAR(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  free_at  DATETIME(6) NOT NULL,                        -- UTC
  PRIMARY KEY (queue_id, duty)
) ENGINE=InnoDB;
