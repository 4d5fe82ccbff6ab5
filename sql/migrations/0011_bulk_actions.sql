-- Bulk actions: what somebody asked for many tasks at once, and how far it is (decision 0044). Times are
-- UTC, by this database's clock.
CREATE TABLE IF NOT EXISTS bulk_action (
  action_id   INT UNSIGNED NOT NULL AUTO_INCREMENT,
  token       VARCHAR(95) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- of the count before it
  kind        ENUM('retry_dead', 'discard_dead') NOT NULL,
  -- Which tasks: those of the queue that died until the count, of one group and of one type ('': any).
  queue_id    INT UNSIGNED NOT NULL,
  dead_group  VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type        VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  died_until  DATETIME(6) NOT NULL,
  rate        INT UNSIGNED NOT NULL DEFAULT 0,                  -- at most so many in a second; 0: any
  counted     BIGINT UNSIGNED NOT NULL,                         -- as many, or more of them, there were
  counted_all TINYINT UNSIGNED NOT NULL,
  asked_by    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  begun_at    DATETIME(6) NOT NULL,
  state       ENUM('waiting', 'working', 'done', 'stopped', 'failed') NOT NULL DEFAULT 'waiting',
  -- How far it is: the batches so far, the task behind which the next one begins, when it may, and how
  -- many tasks were retried or discarded. One transaction writes these and does what they say (S49).
  batches     BIGINT UNSIGNED NOT NULL DEFAULT 0,
  after_partition_no SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  after_prio  TINYINT UNSIGNED NOT NULL DEFAULT 0,
  after_key   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  next_at     DATETIME(6) NOT NULL,
  done        BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ended_at    DATETIME(6) NULL,                                 -- NULL: it is not at its end
  stopped_by  VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  error       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (action_id),
  UNIQUE KEY token (token),
  KEY ended_at (ended_at)
) ENGINE=InnoDB;
