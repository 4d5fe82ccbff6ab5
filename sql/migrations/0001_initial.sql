-- The first schema. Tables are InnoDB whatever the server's default is: row locks are the fence.

CREATE TABLE IF NOT EXISTS queue (
  queue_id    INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name        VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  partitions  SMALLINT UNSIGNED NOT NULL,        -- the database owns this number (S17)
  created_at  DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

-- Live tasks only, and no secondary index: the clustered key is the order in which tasks run.
CREATE TABLE IF NOT EXISTS task (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL DEFAULT 1,   -- class 0..3, 0 first
  run_key      BIGINT UNSIGNED NOT NULL,              -- due time (us since 2025) << 12, + tie-breaker
  first_key    BIGINT UNSIGNED NULL,                  -- the key at submission, once the task moved
  attempt      TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- attempts charged so far
  flags        TINYINT UNSIGNED NOT NULL DEFAULT 0,
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, run_key)
) ENGINE=InnoDB;

-- One row leases a whole partition. No index on expire_at: nothing searches for "any free lease".
CREATE TABLE IF NOT EXISTS q_lock_table (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  epoch         BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- the fencing token; never repeats (S2)
  lock_by       BIGINT UNSIGNED NULL,                 -- holder: random per worker start
  lock_origin   BIGINT UNSIGNED NULL,                 -- host and instance as one number, for S11
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,   -- for people
  lock_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  lock_pid      INT UNSIGNED NULL,
  state         ENUM('FREE','LOCKED','EXTENDED') NOT NULL DEFAULT 'FREE',
  expire_at     DATETIME(6) NOT NULL,                 -- UTC; of a FREE row: when it was released
  block_size    SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- tasks that the holder may have in flight
  suspect_to    BIGINT UNSIGNED NULL,                 -- careful mode: tasks up to this key ...
  suspect_n     SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- ... so many of each class (S7)
  hold_until    DATETIME(6) NULL,                     -- the partition waits (S16)
  low_key       BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- nothing to fetch below it (S15)
  PRIMARY KEY (queue_id, partition_no)
) ENGINE=InnoDB;

-- Where a task went whose key moved, so that its public id stays true.
CREATE TABLE IF NOT EXISTS task_moved (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  run_key      BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Failed attempts of live and dead tasks.
CREATE TABLE IF NOT EXISTS task_attempt (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  attempt      TINYINT UNSIGNED NOT NULL,
  ended_at     DATETIME(6) NOT NULL,
  cause        VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_host    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid     INT UNSIGNED NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key, attempt)
) ENGINE=InnoDB;

CREATE TABLE IF NOT EXISTS task_dead (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  attempt      TINYINT UNSIGNED NOT NULL,
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  cause        VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  died_at      DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;
