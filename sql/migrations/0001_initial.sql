-- The first schema. Tables are InnoDB whatever the server's default is: row locks are the fence.
-- Times are UTC. A task's public id is its queue_id, partition_no, prio and first_key, the key that
-- it was submitted with.

-- The database owns these numbers (S17): a configuration is used once, when a queue is made.
CREATE TABLE IF NOT EXISTS queue (
  queue_id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name            VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  -- spread: over all partitions. The others put a task where its partition_key says: ordered,
  -- limited to max_running at a time, or fair.
  placement       ENUM('spread', 'ordered', 'limited', 'fair') NOT NULL DEFAULT 'spread',
  max_running     SMALLINT UNSIGNED NOT NULL DEFAULT 1,
  partitions      SMALLINT UNSIGNED NOT NULL,
  -- New tasks go to the partitions from this one on. A resize of an ordered or limited queue takes
  -- others, which wait until those of the former layout are empty.
  first_partition SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  -- Counts the layouts. A submission to an ordered or limited queue holds on to the one that it
  -- placed its task by.
  layout          INT UNSIGNED NOT NULL DEFAULT 0,
  created_at      DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

-- A queue that has a row here is paused: nobody leases its partitions.
CREATE TABLE IF NOT EXISTS queue_pause (
  queue_id  INT UNSIGNED NOT NULL,
  paused_at DATETIME(6) NOT NULL,
  reason    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (queue_id)
) ENGINE=InnoDB;

-- A duty of a queue that one worker at a time does: whoever moves free_at on.
CREATE TABLE IF NOT EXISTS queue_duty (
  queue_id INT UNSIGNED NOT NULL,
  duty     VARCHAR(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  free_at  DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, duty)
) ENGINE=InnoDB;

-- Which partition of a fair queue a key has. The row with the empty key is locked by whoever gives
-- partitions to keys, one at a time; it stands for no key.
CREATE TABLE IF NOT EXISTS fair_partition (
  queue_id      INT UNSIGNED NOT NULL,
  partition_key VARBINARY(255) NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (queue_id, partition_key)
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
  expire_at     DATETIME(6) NOT NULL,                 -- of a FREE row: when it was released
  block_size    SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- tasks that the holder may have in flight
  suspect_to    BIGINT UNSIGNED NULL,                 -- careful mode: tasks up to this key ...
  suspect_n     SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- ... so many of each class (S7)
  hold_until    DATETIME(6) NULL,                     -- the partition waits (S16)
  low_key       BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- nothing to fetch below it (S15)
  PRIMARY KEY (queue_id, partition_no)
) ENGINE=InnoDB;

-- Live tasks only, and no secondary index: the clustered key is the order in which tasks run.
CREATE TABLE IF NOT EXISTS task (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL DEFAULT 1,   -- class 0..3, 0 first
  run_key      BIGINT UNSIGNED NOT NULL,              -- due time (us since 2025) << 12, + tie-breaker
  first_key    BIGINT UNSIGNED NULL,                  -- the key at submission, once the task moved
  attempt      INT UNSIGNED NOT NULL DEFAULT 0,       -- attempts charged so far
  flags        TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- bits; sql/README.md has what each says
  expires_at   DATETIME(6) NULL,                      -- a task that has not begun by then is dead (A14)
  key_hash     INT UNSIGNED NULL,                     -- CRC-32 of the partition_key, in ordered and
                                                      -- limited queues: finds a dead task's new place
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, run_key)
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

-- Keys that only one task at a time may have (A4). Tasks without a key have no row here.
CREATE TABLE IF NOT EXISTS task_unique (
  queue_id     INT UNSIGNED NOT NULL,
  unique_key   VARBINARY(255) NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,            -- the task that has it: with queue_id and the
  prio         TINYINT UNSIGNED NOT NULL,             -- next two its public id
  first_key    BIGINT UNSIGNED NOT NULL,
  claim        BIGINT UNSIGNED NOT NULL,              -- which submission made that task
  keep_us      BIGINT UNSIGNED NOT NULL,              -- how long the key stays taken after its end
  free_at      DATETIME(6) NULL,                      -- NULL while the task lives
  PRIMARY KEY (queue_id, unique_key),
  KEY task (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Detached tasks: they run long, and left their partition with a lease of their own (B12). A task is
-- here or in task, never in both.
CREATE TABLE IF NOT EXISTS task_running (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  prio          TINYINT UNSIGNED NOT NULL,
  first_key     BIGINT UNSIGNED NOT NULL,
  run_key       BIGINT UNSIGNED NOT NULL,             -- where it stood, and may stand again
  attempt       INT UNSIGNED NOT NULL,                -- the number of the attempt that runs
  flags         TINYINT UNSIGNED NOT NULL DEFAULT 0,  -- as in task
  type          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  payload       MEDIUMBLOB NOT NULL,
  epoch         BIGINT UNSIGNED NOT NULL,             -- that of the lease which it left (S2)
  lock_by       BIGINT UNSIGNED NOT NULL,             -- holder: random per worker start
  lock_origin   BIGINT UNSIGNED NOT NULL,             -- host and instance as one number, for S11
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- where it runs,
  lock_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- for people
  lock_pid      INT UNSIGNED NOT NULL,
  expire_at     DATETIME(6) NOT NULL,
  detached_at   DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- A cancel of a task that runs is a request, which its worker looks for while it runs. It goes with
-- the task. Only tasks that somebody cancels have a row.
CREATE TABLE IF NOT EXISTS task_cancel (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  reason       MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  asked_at     DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Failed attempts of live, dead and kept tasks, and what each used, as far as somebody measured it
-- (B13); NULL: nobody did.
CREATE TABLE IF NOT EXISTS task_attempt (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  life         SMALLINT UNSIGNED NOT NULL DEFAULT 0,  -- 0: since it last came back from the dead
  attempt      INT UNSIGNED NOT NULL,
  ended_at     DATETIME(6) NOT NULL,
  cause        VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_host    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid     INT UNSIGNED NOT NULL,
  runtime_us   BIGINT UNSIGNED NULL,                  -- inside the handler
  cpu_us       BIGINT UNSIGNED NULL,                  -- of the worker meanwhile, and of the programs
                                                      -- that it waited for
  max_rss_kib  BIGINT UNSIGNED NULL,                  -- the most that the worker, or such a program,
                                                      -- had ever held by then
  PRIMARY KEY (queue_id, partition_no, prio, first_key, life, attempt)
) ENGINE=InnoDB;

CREATE TABLE IF NOT EXISTS task_dead (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  attempt      INT UNSIGNED NOT NULL,
  flags        TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- as in task: how its payload is compressed
                                                      -- (A12), say, outlives the task
  key_hash     INT UNSIGNED NULL,                     -- as in task
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  cause        VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  died_at      DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY died_at (queue_id, died_at)                     -- the newest first; only tasks that die pay
) ENGINE=InnoDB;

-- Finished tasks of queues that keep a history (C10). Who has no history pays nothing for it: no
-- other table refers to this one. The record of the attempt that succeeded is here, those before it
-- are in task_attempt.
CREATE TABLE IF NOT EXISTS task_history (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  attempt      INT UNSIGNED NOT NULL,                 -- the number of the one that succeeded
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  ended_at     DATETIME(6) NOT NULL,
  lock_host    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid     INT UNSIGNED NOT NULL,
  runtime_us   BIGINT UNSIGNED NULL,                  -- as in task_attempt
  cpu_us       BIGINT UNSIGNED NULL,
  max_rss_kib  BIGINT UNSIGNED NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY ended_at (queue_id, ended_at)                   -- the newest first, and the purge
) ENGINE=InnoDB;
