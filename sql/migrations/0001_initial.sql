-- The first schema. Tables are InnoDB whatever the server's default is: row locks are the fence.
-- Times are UTC. A task's public id is its queue_id, partition_no, prio and first_key, its key at
-- submission.

-- The database owns these numbers (S17): a configuration is used once, when a queue is created.
CREATE TABLE IF NOT EXISTS queue (
  queue_id        INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name            VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  -- spread: over all partitions. The others place a task by its partition_key: ordered, limited to
  -- max_running at a time, or fair.
  placement       ENUM('spread', 'ordered', 'limited', 'fair') NOT NULL DEFAULT 'spread',
  max_running     SMALLINT UNSIGNED NOT NULL DEFAULT 1,
  partitions      SMALLINT UNSIGNED NOT NULL,
  -- New tasks go to the partitions from this one on. A resize of an ordered or limited queue uses
  -- new partitions, which wait until those of the previous layout are empty.
  first_partition SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  -- Counts the layouts. A submission to an ordered or limited queue is refused if its task was
  -- placed by another layout.
  layout          INT UNSIGNED NOT NULL DEFAULT 0,
  -- Maximum number of tasks of a spread queue that run at a time in the cluster (S51); 0: no limit.
  cap             INT UNSIGNED NOT NULL DEFAULT 0,
  created_at      DATETIME(6) NOT NULL,
  -- Whether a route takes tasks that are submitted to this queue. NULL: unknown, read the routes.
  routed          BOOLEAN NULL,
  -- Term of the server that is the writer now, if a steward found this one still writable (S53).
  -- Every submission reads this row.
  superseded_by   BIGINT UNSIGNED NULL,
  PRIMARY KEY (queue_id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

-- A queue with a row here is paused or rated: its partitions are leased only with a charge.
CREATE TABLE IF NOT EXISTS queue_pause (
  queue_id  INT UNSIGNED NOT NULL,
  paused_at DATETIME(6) NOT NULL,
  reason    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  -- A rate limits how many tasks of the queue start in a second (A11). Its row here keeps statements
  -- without support for rates from leasing its partitions (S42).
  rated     TINYINT UNSIGNED NOT NULL DEFAULT 0,
  -- Whether the queue is paused by an operator, and not only rated.
  paused    TINYINT UNSIGNED
            AS (rated = 0 OR reason <> 'a rate limits its starts') VIRTUAL,
  PRIMARY KEY (queue_id)
) ENGINE=InnoDB;

-- A duty of a queue that one process at a time has: the one that advances free_at.
CREATE TABLE IF NOT EXISTS queue_duty (
  queue_id INT UNSIGNED NOT NULL,
  duty     VARCHAR(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  free_at  DATETIME(6) NOT NULL,
  -- Leader until free_at: the steward of a host; NULL: none. queue_id 0 is the cluster.
  holder          BIGINT UNSIGNED NULL,
  holder_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  holder_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  holder_pid      INT UNSIGNED NULL,
  since           DATETIME(6) NULL,
  last_run        DATETIME(6) NULL,                   -- last run without an error
  last_error      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,   -- error since then
  PRIMARY KEY (queue_id, duty)
) ENGINE=InnoDB;

-- Partition of each key of a fair queue. The row with the empty key belongs to no key: it is locked
-- to assign a partition, one assignment at a time.
CREATE TABLE IF NOT EXISTS fair_partition (
  queue_id      INT UNSIGNED NOT NULL,
  partition_key VARBINARY(255) NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  PRIMARY KEY (queue_id, partition_key)
) ENGINE=InnoDB;

-- One row leases a whole partition. No index on expire_at, because nothing searches for any free
-- lease.
CREATE TABLE IF NOT EXISTS q_lock_table (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  epoch         BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- fencing token; never repeats (S2)
  lock_by       BIGINT UNSIGNED NULL,                 -- holder: random per worker start
  lock_origin   BIGINT UNSIGNED NULL,                 -- host and instance as one number, for S11
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,   -- for people
  lock_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  lock_pid      INT UNSIGNED NULL,
  state         ENUM('FREE','LOCKED','EXTENDED') NOT NULL DEFAULT 'FREE',
  expire_at     DATETIME(6) NOT NULL,                 -- in a FREE row: time of the release
  block_size    SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- maximum number of tasks in flight
  suspect_to    BIGINT UNSIGNED NULL,                 -- careful mode: the first suspect_n
  suspect_n     SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- tasks of each class up to this key (S7)
  defer_until   DATETIME(6) NULL,                     -- the partition waits until then (S16)
  low_key       BIGINT UNSIGNED NOT NULL DEFAULT 0,   -- no task has a lower key (S15)
  -- Details of the lease for readers, whose configuration may differ.
  detail_epoch  BIGINT UNSIGNED NULL,                 -- the epoch of the next three columns
  ttl_us        BIGINT UNSIGNED NULL,                 -- duration without a renewal (S4)
  defer_prio    TINYINT UNSIGNED NULL,                -- the task that the partition waits for
  defer_key     BIGINT UNSIGNED NULL,                 -- until defer_until (S16), or NULL
  PRIMARY KEY (queue_id, partition_no)
) ENGINE=InnoDB;

-- Live tasks only, without a secondary index: the clustered key is the order in which tasks run.
CREATE TABLE IF NOT EXISTS task (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL DEFAULT 1,   -- class 0..3, 0 first
  run_key      BIGINT UNSIGNED NOT NULL,              -- due time (us since 2025) << 12, + tie-breaker
  first_key    BIGINT UNSIGNED NULL,                  -- key at submission, if the task has moved
  attempt      INT UNSIGNED NOT NULL DEFAULT 0,       -- attempts charged so far
  flags        TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- bits, described in sql/README.md
  expires_at   DATETIME(6) NULL,                      -- a task not started by then is dead (A14)
  key_hash     INT UNSIGNED NULL,                     -- CRC-32 of the partition_key, in ordered and
                                                      -- limited queues: finds a dead task's new place
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  -- Lines of name=value written by Allot (decision 0007); NULL, as in nearly all tasks: none.
  headers      VARBINARY(1024) NULL,
  PRIMARY KEY (queue_id, partition_no, prio, run_key)
) ENGINE=InnoDB;

-- Current key of each task whose key has changed, so that its public id remains valid.
CREATE TABLE IF NOT EXISTS task_moved (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  run_key      BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Unique keys, each of one task at a time (A4). Tasks without a key have no row here.
CREATE TABLE IF NOT EXISTS task_unique (
  queue_id     INT UNSIGNED NOT NULL,
  unique_key   VARBINARY(255) NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,            -- the task that has the key: with queue_id
  prio         TINYINT UNSIGNED NOT NULL,             -- and the next two its public id
  first_key    BIGINT UNSIGNED NOT NULL,
  reservation  BIGINT UNSIGNED NOT NULL,              -- random number of its submission
  unique_for_us BIGINT UNSIGNED NOT NULL,             -- time reserved after its end
  free_at      DATETIME(6) NULL,                      -- NULL: the task has not ended
  PRIMARY KEY (queue_id, unique_key),
  KEY task (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Detached tasks: they run long and have left their partition with a lease of their own (B12). A task
-- is here or in task, never in both.
CREATE TABLE IF NOT EXISTS task_running (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  prio          TINYINT UNSIGNED NOT NULL,
  first_key     BIGINT UNSIGNED NOT NULL,
  run_key       BIGINT UNSIGNED NOT NULL,             -- key in its partition, if it returns
  attempt       INT UNSIGNED NOT NULL,                -- number of the running attempt
  flags         TINYINT UNSIGNED NOT NULL DEFAULT 0,  -- as in task
  type          VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload       MEDIUMBLOB NOT NULL,
  epoch         BIGINT UNSIGNED NOT NULL,             -- epoch of the lease that it left (S2)
  lock_by       BIGINT UNSIGNED NOT NULL,             -- holder: random per worker start
  lock_origin   BIGINT UNSIGNED NOT NULL,             -- host and instance as one number, for S11
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- where it runs,
  lock_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- for people
  lock_pid      INT UNSIGNED NOT NULL,
  expire_at     DATETIME(6) NOT NULL,
  detached_at   DATETIME(6) NOT NULL,
  ttl_us        BIGINT UNSIGNED NULL,                 -- as in q_lock_table
  headers       VARBINARY(1024) NULL,                 -- as in task
  -- Progress in percent and in words, as its handler reports it to people (decision 0025).
  progress      TINYINT UNSIGNED NULL,
  progress_text VARCHAR(47) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Requests to cancel running tasks: the worker checks for one while the task runs. A request is
-- removed with its task.
CREATE TABLE IF NOT EXISTS task_cancel (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  reason       MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  requested_at DATETIME(6) NOT NULL,
  as_done      TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- 1: the task ends as a success, not as dead
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Failed attempts of live, dead and finished tasks, with the resources that each used (B13); NULL: not
-- measured.
CREATE TABLE IF NOT EXISTS task_attempt (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  prio          TINYINT UNSIGNED NOT NULL,
  first_key     BIGINT UNSIGNED NOT NULL,
  retries_since SMALLINT UNSIGNED NOT NULL DEFAULT 0, -- retries of the dead task after this attempt
  attempt       INT UNSIGNED NOT NULL,
  ended_at      DATETIME(6) NOT NULL,
  cause         VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error         MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid      INT UNSIGNED NOT NULL,
  runtime_us    BIGINT UNSIGNED NULL,                 -- inside the handler
  cpu_us        BIGINT UNSIGNED NULL,                 -- of the worker during the attempt, and of
                                                      -- the programs that it waited for
  max_rss_kib   BIGINT UNSIGNED NULL,                 -- maximum of the worker, or of such a program,
                                                      -- since it started
  -- The whole error with the line of code; NULL: only `error`, one line (decision 0015).
  detail        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  -- The error and its place, without the parts that differ from task to task.
  fault         VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  -- Hash of queue, type, cause and fault, like the computed column of task_dead.
  error_group   CHAR(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  -- The last lines that its handler logged (decision 0025).
  log_lines     TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key, retries_since, attempt),
  KEY error_group (queue_id, error_group, ended_at)   -- newest of a group; costs only failures
) ENGINE=InnoDB;

CREATE TABLE IF NOT EXISTS task_dead (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  attempt      INT UNSIGNED NOT NULL,
  flags        TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- as in task; for example, how the payload
                                                      -- is compressed (A12)
  key_hash     INT UNSIGNED NULL,                     -- as in task
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  cause        VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  died_at      DATETIME(6) NOT NULL,
  headers      VARBINARY(1024) NULL,                  -- as in task
  -- Like the columns of task_attempt.
  detail       MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  fault        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  error_group  CHAR(12) CHARACTER SET ascii COLLATE ascii_bin
    AS (LEFT(SHA2(CONCAT_WS(' ', queue_id, type, cause, fault), 256), 12)) STORED,
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY died_at (queue_id, died_at),                    -- newest first; costs only dead tasks
  KEY error_group (queue_id, error_group, died_at)
) ENGINE=InnoDB;

-- Finished tasks of queues that keep a history (C10). Queues without one pay nothing for it: no other
-- table refers to this one. It has the successful attempt; earlier ones are in task_attempt.
CREATE TABLE IF NOT EXISTS task_history (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  attempt      INT UNSIGNED NOT NULL,                 -- number of the successful attempt
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ended_at     DATETIME(6) NOT NULL,
  lock_host    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid     INT UNSIGNED NOT NULL,
  runtime_us   BIGINT UNSIGNED NULL,                  -- as in task_attempt
  cpu_us       BIGINT UNSIGNED NULL,
  max_rss_kib  BIGINT UNSIGNED NULL,
  headers      VARBINARY(1024) NULL,                  -- as in task
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY ended_at (queue_id, ended_at)                   -- newest first, and the purge
) ENGINE=InnoDB;

-- Schedules: a task at each tick of an expression, once in the cluster. Times are UTC, by this
-- database's clock, which decides what is due (S37). A schedule refers to its queue by name: the queue
-- may be created or removed later.
CREATE TABLE IF NOT EXISTS schedule (
  schedule_id   INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  -- Raised by each change of the schedule (S35). If a schedule is removed and created again, its
  -- version is higher than before: the next one or the microseconds since 2025, whichever is more.
  version       BIGINT UNSIGNED NOT NULL,
  expression    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  zone          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  queue         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type          VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload       MEDIUMBLOB NOT NULL,
  -- Options of each submission, like those of allot submit.
  prio          TINYINT UNSIGNED NOT NULL DEFAULT 1,
  delay_us      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  unique_key    VARBINARY(255) NULL,
  unique_for_us BIGINT UNSIGNED NOT NULL DEFAULT 300000000,
  partition_key VARBINARY(255) NULL,
  expires_in_us BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- Policy for ticks that are more than late_after late: one task for all of them, none, or one task
  -- for each of the newest catch_up ones.
  late          ENUM('once', 'skip', 'all') NOT NULL DEFAULT 'once',
  late_after_us BIGINT UNSIGNED NOT NULL DEFAULT 60000000,
  catch_up      INT UNSIGNED NOT NULL DEFAULT 100,
  -- Policy for a tick while the task of an earlier one is not finished.
  overlap       ENUM('allow', 'skip', 'wait') NOT NULL DEFAULT 'allow',
  -- A tick is due up to this much later, by a hash of name and tick.
  jitter_us     BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- Field of a JSON payload that is set to the tick.
  tick_field    VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  -- The first tick that was neither submitted nor skipped nor dropped (S34), and when it is due. NULL:
  -- there are no more ticks.
  next_run      DATETIME(6) NULL,
  due_at        DATETIME(6) NULL,
  -- Earlier ticks fell into a pause that is over, and are dropped.
  resumed_at    DATETIME(6) NULL,
  paused_at     DATETIME(6) NULL,
  pause_reason  VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  -- The last tick that was submitted, and its task, as in schedule_tick.
  last_run          DATETIME(6) NULL,
  last_queue_id     INT UNSIGNED NULL,
  last_partition_no INT UNSIGNED NULL,
  last_prio         TINYINT UNSIGNED NULL,
  last_key          BIGINT UNSIGNED NULL,
  -- Number of ticks so far, by outcome. Ticks dropped after a pause are counted up to a limit.
  ticks         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  submitted     BIGINT UNSIGNED NOT NULL DEFAULT 0,
  skipped       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  dropped       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- Error of the current tick, and time of its first try. NULL: none.
  error         VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  error_since   DATETIME(6) NULL,
  -- For a schedule from a configuration: checksum of the last applied text, and its revision. A host
  -- whose text has a lower revision changes nothing.
  applied       BIGINT UNSIGNED NULL,
  revision      INT UNSIGNED NOT NULL DEFAULT 0,
  created_at    DATETIME(6) NOT NULL,
  changed_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (schedule_id),
  UNIQUE KEY name (name),
  KEY due_at (due_at)
) ENGINE=InnoDB;

-- The last 20 ticks of each schedule. The last columns are the public id of the tick's task, as in
-- task_dead; NULL: none.
CREATE TABLE IF NOT EXISTS schedule_tick (
  schedule_id INT UNSIGNED NOT NULL,
  tick_no     BIGINT UNSIGNED NOT NULL,       -- schedule.ticks at that time
  tick        DATETIME(6) NOT NULL,           -- time by the expression, without jitter
  at          DATETIME(6) NOT NULL,           -- time of its submission, skip or drop
  queue_id     INT UNSIGNED NULL,
  partition_no INT UNSIGNED NULL,
  prio         TINYINT UNSIGNED NULL,
  first_key    BIGINT UNSIGNED NULL,
  -- Why it has no task; 'run now': the task was requested by an operator.
  reason      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (schedule_id, tick_no)
) ENGINE=InnoDB;

-- Current conditions that need attention (C9). The task about a change is submitted in the transaction
-- that inserts or deletes the row.
CREATE TABLE IF NOT EXISTS notice (
  kind      VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject   VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- a queue, a duty, a schedule
  raised_at DATETIME(6) NOT NULL,
  detail    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  task      VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL,            -- an affected task
  PRIMARY KEY (kind, subject)
) ENGINE=InnoDB;

-- Named locks: a row for each slot of a name, created at its first use and never deleted, so that its
-- epochs never repeat. The low ten bits of an epoch are the slot.
CREATE TABLE IF NOT EXISTS named_lock (
  name      VARBINARY(255) NOT NULL,
  slot      SMALLINT UNSIGNED NOT NULL,
  slots     SMALLINT UNSIGNED NOT NULL,   -- of this name, the same in all its rows; higher slots are not taken
  epoch     BIGINT UNSIGNED NOT NULL,     -- the token
  state     VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expire_at DATETIME(6) NOT NULL,
  ttl_us    BIGINT UNSIGNED NOT NULL,
  taken_at  DATETIME(6) NOT NULL,
  lock_by   BIGINT UNSIGNED NULL,         -- random for each acquisition
  lock_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  lock_pid  INT UNSIGNED NULL,
  PRIMARY KEY (name, slot),
  KEY lock_by (lock_by)
) ENGINE=InnoDB;

-- Processes that wait for a lock, in the order of arrival.
CREATE TABLE IF NOT EXISTS lock_ticket (
  ticket    BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name      VARBINARY(255) NOT NULL,
  lock_by   BIGINT UNSIGNED NOT NULL,     -- future lock_by of named_lock
  lock_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid  INT UNSIGNED NOT NULL,
  expire_at DATETIME(6) NOT NULL,
  ttl_us    BIGINT UNSIGNED NOT NULL,
  drawn_at  DATETIME(6) NOT NULL,
  PRIMARY KEY (ticket),
  UNIQUE KEY lock_by (lock_by),
  KEY name (name, ticket)
) ENGINE=InnoDB;

-- Routes: the queue that takes tasks of a type that are submitted to another queue, or to none (A10).
-- A submission reads them once, and only if the queue's row says so.
CREATE TABLE IF NOT EXISTS route (
  queue_id  INT UNSIGNED NOT NULL,          -- queue of the submission; 0: any or none
  is_prefix BOOLEAN NOT NULL,
  pattern   VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- a type, or a prefix of types
  target_id INT UNSIGNED NOT NULL,          -- the queue that takes them
  set_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, is_prefix, pattern)
) ENGINE=InnoDB;

-- A change of routes locks this row, and the creation of a queue reads it. It is not a route, because
-- a type is never empty.
INSERT IGNORE INTO route VALUES (0, 0, '', 0, UTC_TIMESTAMP(6));

-- Rate of a queue. Its foreign key keeps the row of queue_pause, without which the queue would be leased
-- without a limit.
CREATE TABLE IF NOT EXISTS queue_rate (
  queue_id   INT UNSIGNED NOT NULL,
  per_second DECIMAL(12,6) NOT NULL,
  burst      INT UNSIGNED NOT NULL,            -- number of tasks that may start at once
  set_at     DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id),
  CONSTRAINT a_rate_limits_this_queue FOREIGN KEY (queue_id) REFERENCES queue_pause (queue_id)
) ENGINE=InnoDB;

-- Buckets that starts are charged to in advance (S43). Above 200 starts a second a queue has several, so
-- that workers do not all wait for one row. Times are microseconds since 2025, by this database's clock.
CREATE TABLE IF NOT EXISTS queue_bucket (
  queue_id    INT UNSIGNED NOT NULL,
  bucket_no   SMALLINT UNSIGNED NOT NULL,
  interval_us BIGINT NOT NULL,                 -- between two starts of this bucket
  max_lag_us  BIGINT NOT NULL,                 -- next_free lags at most this much behind the clock
  max_grant   INT UNSIGNED NOT NULL,           -- largest grant
  next_free   BIGINT NOT NULL,                 -- when the next start is free
  grant_id    BIGINT UNSIGNED NOT NULL DEFAULT 0, -- random number of the last charge
  granted     INT UNSIGNED NOT NULL DEFAULT 0,    -- number of starts that it granted
  charged_at  BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (queue_id, bucket_no)
) ENGINE=InnoDB;

-- The server that wrote last (S48), in one row: expiry times are by its clock. term grows with each
-- server change; since is the time when the last change was noticed, by the clock of the current server;
-- streak is the number of changes since ten minutes passed without one.
CREATE TABLE IF NOT EXISTS server_identity (
  only_row TINYINT UNSIGNED NOT NULL,
  identity VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  term     BIGINT UNSIGNED NOT NULL,
  since    DATETIME(6) NOT NULL,
  streak   INT UNSIGNED NOT NULL,
  PRIMARY KEY (only_row)
) ENGINE=InnoDB;

-- Bulk actions: requests for many tasks at once, and their progress (decision 0015). Times are UTC, by
-- this database's clock.
CREATE TABLE IF NOT EXISTS bulk_action (
  action_id    INT UNSIGNED NOT NULL AUTO_INCREMENT,
  token        VARCHAR(95) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- of the count before it
  kind         ENUM('retry_dead', 'discard_dead') NOT NULL,
  -- Selection: tasks of the queue that died until the count, of one group and of one type ('': any).
  queue_id     INT UNSIGNED NOT NULL,
  dead_group   VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  died_until   DATETIME(6) NOT NULL,
  rate         INT UNSIGNED NOT NULL DEFAULT 0,                  -- maximum number of tasks a second; 0: no limit
  counted      BIGINT UNSIGNED NOT NULL,                         -- number of tasks; at least, unless counted_all
  counted_all  TINYINT UNSIGNED NOT NULL,
  requested_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  started_at   DATETIME(6) NOT NULL,
  state        ENUM('waiting', 'running', 'done', 'stopped', 'failed') NOT NULL DEFAULT 'waiting',
  -- Progress: number of batches, the task after which the next batch begins, its earliest time, and the
  -- number of tasks retried or discarded. Written in the transaction of each batch (S49).
  batches      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  after_partition_no SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  after_prio   TINYINT UNSIGNED NOT NULL DEFAULT 0,
  after_key    BIGINT UNSIGNED NOT NULL DEFAULT 0,
  next_at      DATETIME(6) NOT NULL,
  done         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ended_at     DATETIME(6) NULL,                                 -- NULL: it has not ended
  stopped_by   VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  error        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (action_id),
  UNIQUE KEY token (token),
  KEY ended_at (ended_at)
) ENGINE=InnoDB;

-- Actions of operators (S89, decision 0029): an entry for each, written in its transaction. Times are UTC,
-- by this database's clock.
CREATE TABLE IF NOT EXISTS audit (
  audit_id     BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  at           DATETIME(6) NOT NULL,
  actor        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  source       VARCHAR(15)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- gateway, cli, procedure, configuration
  action       VARCHAR(31)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject      VARCHAR(15)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- queue, task, schedule ...
  name         VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- of the subject, or its id
  queue        VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- NULL: none
  to_queue     VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- of a move, or of a route
  tasks        BIGINT UNSIGNED NULL,                                        -- number of tasks; NULL: not about tasks
  detail       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  reason       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  operation_id BIGINT UNSIGNED NULL,   -- of an action of several transactions, which have one entry
  PRIMARY KEY (audit_id),
  UNIQUE KEY operation_id (operation_id),
  KEY at (at),
  KEY subject (subject, name)
) ENGINE=InnoDB;

-- Results of the last database checks of the leading steward (S90), replaced as a whole. Row 0 has the time
-- of the checks, also if nothing was found.
CREATE TABLE IF NOT EXISTS finding (
  row_no     SMALLINT UNSIGNED NOT NULL,
  checked_at DATETIME(6) NOT NULL,
  level      VARCHAR(7)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- warn, fail
  check_name VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  queue      VARCHAR(63)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- NULL: none, or all
  text       VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fix        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- what to do
  PRIMARY KEY (row_no)
) ENGINE=InnoDB;

-- Data of the charts (decision 0024): counts of the workers of each instance by minute, and the number of
-- tasks of each queue. Times are UTC, by this database's clock.
CREATE TABLE IF NOT EXISTS instance (
  origin   BIGINT UNSIGNED NOT NULL,          -- of its host, name and runtime folder, as in a lease
  host     VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  instance VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  version  VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  run_id   VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- identifies the run of its allotd
  since    DATETIME(6) NOT NULL,              -- start of that run
  seen_at  DATETIME(6) NOT NULL,              -- its last heartbeat
  write_no BIGINT UNSIGNED NOT NULL,          -- number of the last write of its counts
  totals   MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- counts at that write
  -- Its pools: a line for each with its name, number of workers and queues.
  pools    MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (origin)
) ENGINE=InnoDB;

-- Attempts since the previous write, by queue and type; further types are summed in a row named other.
-- Rows with an error group count failed attempts a second time, by group.
CREATE TABLE IF NOT EXISTS attempt_minute (
  minute_at   DATETIME NOT NULL,
  origin      BIGINT UNSIGNED NOT NULL,
  write_no    BIGINT UNSIGNED NOT NULL,       -- number of the write of the instance
  row_no      SMALLINT UNSIGNED NOT NULL,     -- number of the row in the write
  seconds     INT UNSIGNED NOT NULL,          -- since the previous write
  queue       VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type        VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  error_group VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error       VARCHAR(127) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- sample of the group
  done        BIGINT UNSIGNED NOT NULL,
  retried     BIGINT UNSIGNED NOT NULL,
  snoozed     BIGINT UNSIGNED NOT NULL,
  interrupted BIGINT UNSIGNED NOT NULL,
  dead        BIGINT UNSIGNED NOT NULL,
  cancelled   BIGINT UNSIGNED NOT NULL,
  crashed     BIGINT UNSIGNED NOT NULL,
  ran_us      BIGINT UNSIGNED NOT NULL,       -- total run time of handlers
  ran_10ms    BIGINT UNSIGNED NOT NULL,       -- number of runs up to this time,
  ran_100ms   BIGINT UNSIGNED NOT NULL,       -- longer than the previous bound
  ran_1s      BIGINT UNSIGNED NOT NULL,
  ran_10s     BIGINT UNSIGNED NOT NULL,
  ran_1min    BIGINT UNSIGNED NOT NULL,
  ran_longer  BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (minute_at, origin, write_no, row_no)
) ENGINE=InnoDB;

-- Number of waiting and detached tasks of a queue. The row of queue 0 says that they were counted: a queue
-- without a row had none.
CREATE TABLE IF NOT EXISTS queue_minute (
  minute_at DATETIME NOT NULL,
  queue_id  INT UNSIGNED NOT NULL,
  backlog   BIGINT UNSIGNED NOT NULL,
  estimated TINYINT UNSIGNED NOT NULL,        -- too many to count: the server's estimate
  PRIMARY KEY (minute_at, queue_id)
) ENGINE=InnoDB;

-- Attempts of an hour by queue and type, of all hosts together, for eight days. Each host adds the counts
-- of its minute.
CREATE TABLE IF NOT EXISTS type_hour (
  hour_at       DATETIME NOT NULL,
  queue         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type          VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  done          BIGINT UNSIGNED NOT NULL,
  retried       BIGINT UNSIGNED NOT NULL,
  dead          BIGINT UNSIGNED NOT NULL,
  ran_0         BIGINT UNSIGNED NOT NULL,       -- number of runs by duration, with the bounds of queue/minutes
  ran_1         BIGINT UNSIGNED NOT NULL,
  ran_2         BIGINT UNSIGNED NOT NULL,
  ran_3         BIGINT UNSIGNED NOT NULL,
  ran_4         BIGINT UNSIGNED NOT NULL,
  ran_5         BIGINT UNSIGNED NOT NULL,
  ran_6         BIGINT UNSIGNED NOT NULL,
  ran_7         BIGINT UNSIGNED NOT NULL,
  ran_8         BIGINT UNSIGNED NOT NULL,
  ran_9         BIGINT UNSIGNED NOT NULL,
  ran_10        BIGINT UNSIGNED NOT NULL,
  ran_11        BIGINT UNSIGNED NOT NULL,
  ran_12        BIGINT UNSIGNED NOT NULL,
  ran_13        BIGINT UNSIGNED NOT NULL,
  ran_14        BIGINT UNSIGNED NOT NULL,
  ran_15        BIGINT UNSIGNED NOT NULL,
  ran_16        BIGINT UNSIGNED NOT NULL,
  ran_17        BIGINT UNSIGNED NOT NULL,
  ran_18        BIGINT UNSIGNED NOT NULL,
  ran_19        BIGINT UNSIGNED NOT NULL,
  wait_0        BIGINT UNSIGNED NOT NULL,       -- number of tasks by time from due to start
  wait_1        BIGINT UNSIGNED NOT NULL,
  wait_2        BIGINT UNSIGNED NOT NULL,
  wait_3        BIGINT UNSIGNED NOT NULL,
  wait_4        BIGINT UNSIGNED NOT NULL,
  wait_5        BIGINT UNSIGNED NOT NULL,
  wait_6        BIGINT UNSIGNED NOT NULL,
  wait_7        BIGINT UNSIGNED NOT NULL,
  wait_8        BIGINT UNSIGNED NOT NULL,
  wait_9        BIGINT UNSIGNED NOT NULL,
  wait_10       BIGINT UNSIGNED NOT NULL,
  wait_11       BIGINT UNSIGNED NOT NULL,
  wait_12       BIGINT UNSIGNED NOT NULL,
  wait_13       BIGINT UNSIGNED NOT NULL,
  wait_14       BIGINT UNSIGNED NOT NULL,
  wait_15       BIGINT UNSIGNED NOT NULL,
  wait_16       BIGINT UNSIGNED NOT NULL,
  wait_17       BIGINT UNSIGNED NOT NULL,
  wait_18       BIGINT UNSIGNED NOT NULL,
  wait_19       BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (hour_at, queue, type)
) ENGINE=InnoDB;

-- State of the slots of an instance at `taken_at`: its workers and their running tasks, as JSON. Only for
-- display (decision 0030).
CREATE TABLE IF NOT EXISTS host_snapshot (
  origin   BIGINT UNSIGNED NOT NULL,          -- as of `instance`
  host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  writer   BIGINT UNSIGNED NOT NULL,          -- holder id of the steward
  taken_at DATETIME(6) NOT NULL,
  state    MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (origin)
) ENGINE=InnoDB;

-- Changes of version or configuration of an instance, for 30 days. The previous ones are NULL if they are
-- unknown.
CREATE TABLE IF NOT EXISTS deployment (
  host                   VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  instance               VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  since                  DATETIME(6) NOT NULL,
  version                VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  configuration          VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,   -- hash of its files
  previous_version       VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  previous_configuration VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (host, instance, since)
) ENGINE=InnoDB;

-- Queues of programs written for Fireworq (decision 0026): each is a spread queue, and has its Fireworq
-- settings here. Names are bytes, as given.
CREATE TABLE IF NOT EXISTS fireworq_queue (
  queue_id                  INT UNSIGNED NOT NULL,
  name                      VARBINARY(255) NOT NULL,
  polling_interval          INT UNSIGNED NOT NULL,  -- ms; stored and shown, without effect
  max_dispatches_per_second DOUBLE NULL,            -- NULL: no rate
  max_burst_size            INT UNSIGNED NULL,
  hidden_at                 DATETIME(6) NULL,       -- time of its deletion; another PUT restores it
  PRIMARY KEY (queue_id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

-- Queue of each category of jobs. The queue may be deleted and restored.
CREATE TABLE IF NOT EXISTS fireworq_routing (
  category   VARBINARY(255) NOT NULL,
  queue_name VARBINARY(255) NOT NULL,
  PRIMARY KEY (category)
) ENGINE=InnoDB;

-- Job numbers of these programs, each written in the transaction that submits the job. A row without its
-- task is removed later.
CREATE TABLE IF NOT EXISTS fireworq_job (
  job_id       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  first_key    BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE KEY task (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;

-- Types of tasks that were put back because a worker had no handler for them (S65), by partition and
-- class. A worker with a handler finds them here, and calls the tasks forward (S66).
CREATE TABLE IF NOT EXISTS deferred_type (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  from_key     BIGINT UNSIGNED NOT NULL,              -- their keys are in this range
  to_key       BIGINT UNSIGNED NOT NULL,              -- keys up to now are due in any case
  PRIMARY KEY (queue_id, partition_no, prio, type)
) ENGINE=InnoDB;
