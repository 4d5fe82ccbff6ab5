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
  -- So many tasks of a spread queue run at a time in the whole cluster (S51); 0: any number.
  cap             INT UNSIGNED NOT NULL DEFAULT 0,
  created_at      DATETIME(6) NOT NULL,
  -- Whether a route takes tasks that are submitted to this queue. NULL: not known, look.
  routed          BOOLEAN NULL,
  -- Term of another server that is the writer now, where a steward found this one still writable
  -- (S53); NULL: none did. Every submission reads this row.
  superseded_by   BIGINT UNSIGNED NULL,
  PRIMARY KEY (queue_id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

-- A queue that has a row here is paused, or rated: nothing leases its partitions without a charge.
CREATE TABLE IF NOT EXISTS queue_pause (
  queue_id  INT UNSIGNED NOT NULL,
  paused_at DATETIME(6) NOT NULL,
  reason    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  -- A rate limits how many tasks of the queue start in a second (A11). Its row here keeps statements
  -- that know no rates from leasing anything of it (S42).
  rated     TINYINT UNSIGNED NOT NULL DEFAULT 0,
  -- Whether the queue is paused by an operator, and not only rated.
  paused    TINYINT UNSIGNED
            AS (rated = 0 OR reason <> 'a rate limits its starts') VIRTUAL,
  PRIMARY KEY (queue_id)
) ENGINE=InnoDB;

-- A duty of a queue that one worker at a time does: whoever moves free_at on.
CREATE TABLE IF NOT EXISTS queue_duty (
  queue_id INT UNSIGNED NOT NULL,
  duty     VARCHAR(15) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  free_at  DATETIME(6) NOT NULL,
  -- Its leader until free_at: the steward of a host. NULL: none. queue_id 0 is the cluster.
  holder          BIGINT UNSIGNED NULL,
  holder_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  holder_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  holder_pid      INT UNSIGNED NULL,
  since           DATETIME(6) NULL,
  last_run        DATETIME(6) NULL,                   -- last time that it was done without an error
  last_error      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,   -- error since then
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
  -- What the lease says of itself: a reader does not judge it by its own configuration.
  of_epoch      BIGINT UNSIGNED NULL,                 -- the epoch of the next three columns
  ttl_us        BIGINT UNSIGNED NULL,                 -- duration without a renewal (S4)
  hold_prio     TINYINT UNSIGNED NULL,                -- the task that the partition waits for until
  hold_key      BIGINT UNSIGNED NULL,                 -- hold_until (S16), or NULL
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
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  -- Lines of name=value that Allot wrote (decision 0007); NULL, as in nearly all tasks: none.
  headers      VARBINARY(1024) NULL,
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
  type          VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload       MEDIUMBLOB NOT NULL,
  epoch         BIGINT UNSIGNED NOT NULL,             -- that of the lease which it left (S2)
  lock_by       BIGINT UNSIGNED NOT NULL,             -- holder: random per worker start
  lock_origin   BIGINT UNSIGNED NOT NULL,             -- host and instance as one number, for S11
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- where it runs,
  lock_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- for people
  lock_pid      INT UNSIGNED NOT NULL,
  expire_at     DATETIME(6) NOT NULL,
  detached_at   DATETIME(6) NOT NULL,
  ttl_us        BIGINT UNSIGNED NULL,                 -- as in q_lock_table
  headers       VARBINARY(1024) NULL,                 -- as in task
  -- How far it is, as its handler says for people (decision 0025).
  progress      TINYINT UNSIGNED NULL,
  progress_word VARCHAR(47) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
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
  as_done      TINYINT UNSIGNED NOT NULL DEFAULT 0,   -- 1: the task ends as a success, not as dead
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
  -- The whole error, which names the line of code; NULL: `error`, one line, is all (decision 0015).
  detail       MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  -- What failed and where, without what differs from task to task.
  fault        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  -- One word for queue, type, cause and fault: as the computed column of task_dead.
  error_group  CHAR(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  -- The last lines that its handler logged (decision 0025).
  log_lines    TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key, life, attempt),
  KEY error_group (queue_id, error_group, ended_at)   -- the newest of a group; only failures pay
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
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload      MEDIUMBLOB NOT NULL,
  cause        VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  died_at      DATETIME(6) NOT NULL,
  headers      VARBINARY(1024) NULL,                  -- as in task
  -- These two as in task_attempt.
  detail       MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  fault        VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  error_group  CHAR(12) CHARACTER SET ascii COLLATE ascii_bin
    AS (LEFT(SHA2(CONCAT_WS(' ', queue_id, type, cause, fault), 256), 12)) STORED,
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY died_at (queue_id, died_at),                    -- the newest first; only tasks that die pay
  KEY error_group (queue_id, error_group, died_at)
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
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ended_at     DATETIME(6) NOT NULL,
  lock_host    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid     INT UNSIGNED NOT NULL,
  runtime_us   BIGINT UNSIGNED NULL,                  -- as in task_attempt
  cpu_us       BIGINT UNSIGNED NULL,
  max_rss_kib  BIGINT UNSIGNED NULL,
  headers      VARBINARY(1024) NULL,                  -- as in task
  PRIMARY KEY (queue_id, partition_no, prio, first_key),
  KEY ended_at (queue_id, ended_at)                   -- the newest first, and the purge
) ENGINE=InnoDB;

-- Schedules: a task at each tick of an expression, once over all hosts. Times are UTC, by this
-- database's clock, which says what is due (S37). A schedule names its queue by name: the queue may be
-- made, or removed, after it.
CREATE TABLE IF NOT EXISTS schedule (
  schedule_id   INT UNSIGNED NOT NULL AUTO_INCREMENT,
  name          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  -- Raised by each change of what the schedule is (S35). Of a schedule that is removed and made again
  -- under its name it is higher than before: microseconds since 2025 when that is more than one more.
  version       BIGINT UNSIGNED NOT NULL,
  expression    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  zone          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  queue         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type          VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload       MEDIUMBLOB NOT NULL,
  -- The options of each submission, as those of allot submit.
  prio          TINYINT UNSIGNED NOT NULL DEFAULT 1,
  delay_us      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  unique_key    VARBINARY(255) NULL,
  unique_for_us BIGINT UNSIGNED NOT NULL DEFAULT 300000000,
  partition_key VARBINARY(255) NULL,
  expires_in_us BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- What becomes of ticks that are more than late_after late: all of them give one task, or none, or
  -- the newest catch_up one each.
  late          ENUM('once', 'skip', 'all') NOT NULL DEFAULT 'once',
  late_after_us BIGINT UNSIGNED NOT NULL DEFAULT 60000000,
  catch_up      INT UNSIGNED NOT NULL DEFAULT 100,
  -- What becomes of a tick while the task of an earlier one is not finished.
  overlap       ENUM('allow', 'skip', 'wait') NOT NULL DEFAULT 'allow',
  -- A tick is due up to this much later, by a hash of name and tick.
  jitter_us     BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- The field of a JSON payload that gets the tick.
  tick_field    VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  -- The first tick that has been neither submitted, nor skipped, nor dropped (S34), and when it is due.
  -- NULL: no tick will ever come.
  next_run      DATETIME(6) NULL,
  due_at        DATETIME(6) NULL,
  -- Ticks before it fell into a pause that is over, and are dropped.
  resumed_at    DATETIME(6) NULL,
  paused_at     DATETIME(6) NULL,
  pause_reason  VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  -- The last tick that was submitted, and its task, as in schedule_tick.
  last_run          DATETIME(6) NULL,
  last_queue_id     INT UNSIGNED NULL,
  last_partition_no INT UNSIGNED NULL,
  last_prio         TINYINT UNSIGNED NULL,
  last_key          BIGINT UNSIGNED NULL,
  -- Ticks so far, of each outcome. Those that were dropped unseen are counted up to a bound.
  ticks         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  submitted     BIGINT UNSIGNED NOT NULL DEFAULT 0,
  skipped       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  dropped       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  -- Why the present tick could not be submitted, and since when it is tried. NULL: nothing is wrong.
  error         VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  error_since   DATETIME(6) NULL,
  -- Of a schedule that a configuration made: a checksum of the text applied last, and its revision. A
  -- host whose text has a lower revision changes nothing.
  applied       BIGINT UNSIGNED NULL,
  revision      INT UNSIGNED NOT NULL DEFAULT 0,
  created_at    DATETIME(6) NOT NULL,
  changed_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (schedule_id),
  UNIQUE KEY name (name),
  KEY due_at (due_at)
) ENGINE=InnoDB;

-- The last 20 ticks of each schedule, with the task of each: its public id in parts, as in task_dead.
-- These are NULL where there is none.
CREATE TABLE IF NOT EXISTS schedule_tick (
  schedule_id INT UNSIGNED NOT NULL,
  tick_no     BIGINT UNSIGNED NOT NULL,       -- schedule.ticks when it was written
  tick        DATETIME(6) NOT NULL,           -- what the expression says, without jitter
  at          DATETIME(6) NOT NULL,           -- when it was submitted, skipped or dropped
  queue_id     INT UNSIGNED NULL,
  partition_no INT UNSIGNED NULL,
  prio         TINYINT UNSIGNED NULL,
  first_key    BIGINT UNSIGNED NULL,
  -- Why it has no task; 'run now' when somebody asked for this task.
  reason      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (schedule_id, tick_no)
) ENGINE=InnoDB;

-- What somebody should know of (C9), from the moment it was noticed until it is over. The insert, or
-- the delete, of a row is the change of state, and in its transaction the task about it is submitted.
CREATE TABLE IF NOT EXISTS notice (
  kind      VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject   VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- a queue, a duty, a schedule
  raised_at DATETIME(6) NOT NULL,
  detail    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  task      VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL,            -- the one that shows it
  PRIMARY KEY (kind, subject)
) ENGINE=InnoDB;

-- Named locks: a row for each slot of each name, made at its first use and never deleted, so that its
-- epochs never repeat. The low ten bits of an epoch are the slot, so that a token names it.
CREATE TABLE IF NOT EXISTS named_lock (
  name      VARBINARY(255) NOT NULL,
  slot      SMALLINT UNSIGNED NOT NULL,
  slots     SMALLINT UNSIGNED NOT NULL,   -- of this name, the same in all its rows; from there on none is taken
  epoch     BIGINT UNSIGNED NOT NULL,     -- the token
  state     VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expire_at DATETIME(6) NOT NULL,
  ttl_us    BIGINT UNSIGNED NOT NULL,
  taken_at  DATETIME(6) NOT NULL,
  lock_by   BIGINT UNSIGNED NULL,         -- a random number of one taking
  lock_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  lock_pid  INT UNSIGNED NULL,
  PRIMARY KEY (name, slot),
  KEY lock_by (lock_by)
) ENGINE=InnoDB;

-- Who waits for a lock, in the order of arrival.
CREATE TABLE IF NOT EXISTS lock_ticket (
  ticket    BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name      VARBINARY(255) NOT NULL,
  lock_by   BIGINT UNSIGNED NOT NULL,     -- as it will stand in named_lock
  lock_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid  INT UNSIGNED NOT NULL,
  expire_at DATETIME(6) NOT NULL,
  ttl_us    BIGINT UNSIGNED NOT NULL,
  drawn_at  DATETIME(6) NOT NULL,
  PRIMARY KEY (ticket),
  UNIQUE KEY lock_by (lock_by),
  KEY name (name, ticket)
) ENGINE=InnoDB;

-- Routes: which queue takes the tasks of a type that are submitted to another queue, or to none (A10).
-- Who submits looks here once, and only where the queue's row says so.
CREATE TABLE IF NOT EXISTS route (
  queue_id  INT UNSIGNED NOT NULL,          -- that the tasks are submitted to; 0: any, also none
  is_prefix BOOLEAN NOT NULL,
  pattern   VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- a type, or a prefix of types
  target_id INT UNSIGNED NOT NULL,          -- the queue that takes them
  set_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, is_prefix, pattern)
) ENGINE=InnoDB;

-- Whoever sets or removes a route locks this row, and whoever makes a queue reads it: it stands for no
-- type, because none is empty.
INSERT IGNORE INTO route VALUES (0, 0, '', 0, UTC_TIMESTAMP(6));

-- The rate that an operator asked for. Its foreign key keeps the row of queue_pause: without that
-- row the queue would be leased without a limit.
CREATE TABLE IF NOT EXISTS queue_rate (
  queue_id   INT UNSIGNED NOT NULL,
  per_second DECIMAL(12,6) NOT NULL,
  burst      INT UNSIGNED NOT NULL,            -- so many may start at once, after a while without any
  set_at     DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id),
  CONSTRAINT a_rate_limits_this_queue FOREIGN KEY (queue_id) REFERENCES queue_pause (queue_id)
) ENGINE=InnoDB;

-- Where starts are taken from, before they are made (S43). Above 200 a second a queue has several
-- buckets, so that not everybody waits for the same row. Times are microseconds since 2025, by this
-- database's clock.
CREATE TABLE IF NOT EXISTS queue_bucket (
  queue_id    INT UNSIGNED NOT NULL,
  bucket_no   SMALLINT UNSIGNED NOT NULL,
  interval_us BIGINT NOT NULL,                 -- between two starts from this bucket
  hold_us     BIGINT NOT NULL,                 -- next_free counts as no further behind the clock
  most        INT UNSIGNED NOT NULL,           -- a grant is no larger
  next_free   BIGINT NOT NULL,                 -- when the next start is free
  grant_id    BIGINT UNSIGNED NOT NULL DEFAULT 0, -- the last charge, by a random number of its own
  granted     INT UNSIGNED NOT NULL DEFAULT 0,    -- and how many may start by it
  charged_at  BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (queue_id, bucket_no)
) ENGINE=InnoDB;

-- Which server wrote last (S48), in one row: expiry times are of its clock. number grows with each
-- change of server, since is when the last one was noticed, by the clock of the server that is there
-- now, and streak is how many changes there were since ten minutes passed without one.
CREATE TABLE IF NOT EXISTS server_identity (
  only_row TINYINT UNSIGNED NOT NULL,
  identity VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  number   BIGINT UNSIGNED NOT NULL,
  since    DATETIME(6) NOT NULL,
  streak   INT UNSIGNED NOT NULL,
  PRIMARY KEY (only_row)
) ENGINE=InnoDB;

-- Bulk actions: what somebody asked for many tasks at once, and how far it is (decision 0015). Times are
-- UTC, by this database's clock.
CREATE TABLE IF NOT EXISTS bulk_action (
  action_id   INT UNSIGNED NOT NULL AUTO_INCREMENT,
  token       VARCHAR(95) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- of the count before it
  kind        ENUM('retry_dead', 'discard_dead') NOT NULL,
  -- Which tasks: those of the queue that died until the count, of one group and of one type ('': any).
  queue_id    INT UNSIGNED NOT NULL,
  dead_group  VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type        VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
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

-- What operators did (S89, decision 0029): an entry for each action, written in its transaction. Times are
-- UTC, by this database's clock.
CREATE TABLE IF NOT EXISTS audit (
  audit_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  at       DATETIME(6) NOT NULL,
  who      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  door     VARCHAR(15)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- gateway, cli, procedure, configuration
  action   VARCHAR(31)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject  VARCHAR(15)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- queue, task, schedule ...
  name     VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- of the subject, or its id
  queue    VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- NULL: it belongs to none
  to_queue VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- of a move, or of a route
  tasks    BIGINT UNSIGNED NULL,                                        -- number of tasks; NULL: not about tasks
  detail   VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  reason   VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  deed     BIGINT UNSIGNED NULL,       -- of an action of several transactions, which have one entry
  PRIMARY KEY (audit_id),
  UNIQUE KEY deed (deed),
  KEY at (at),
  KEY subject (subject, name)
) ENGINE=InnoDB;

-- What the checks of the database found when the steward that leads looked last (S90): replaced as a
-- whole. The row of place 0 has the time of the look, also where nothing was found.
CREATE TABLE IF NOT EXISTS finding (
  place    SMALLINT UNSIGNED NOT NULL,
  found_at DATETIME(6) NOT NULL,
  level    VARCHAR(7)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- warn, fail
  about    VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  queue    VARCHAR(63)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL, -- NULL: it concerns none, or all
  text     VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fix      VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- what to do
  PRIMARY KEY (place)
) ENGINE=InnoDB;

-- What curves are drawn from (decision 0024): what the workers of each instance counted, minute by minute,
-- and how many tasks each queue had then. Times are UTC, by this database's clock.
CREATE TABLE IF NOT EXISTS instance (
  origin   BIGINT UNSIGNED NOT NULL,          -- of its host, name and runtime folder, as in a lease
  host     VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  instance VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  version  VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  life     VARCHAR(63)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- which run of its allotd
  since    DATETIME(6) NOT NULL,              -- when that began
  seen_at  DATETIME(6) NOT NULL,              -- the last sign of life
  written  BIGINT UNSIGNED NOT NULL,          -- grows with each write of its counts
  counted  MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- what they were then
  -- What its pools serve: a line for each with its name, number of workers and queues.
  pools    MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (origin)
) ENGINE=InnoDB;

-- Of each write the attempts since the one before, by queue and type, those that no row has room for
-- in a row named other; and by error group (not empty) the failed ones among them once more.
CREATE TABLE IF NOT EXISTS attempt_minute (
  minute_at   DATETIME NOT NULL,
  origin      BIGINT UNSIGNED NOT NULL,
  written     BIGINT UNSIGNED NOT NULL,       -- which write of the instance
  place       SMALLINT UNSIGNED NOT NULL,     -- which row of the write
  seconds     INT UNSIGNED NOT NULL,          -- since the write before
  queue       VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type        VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  error_group VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  error       VARCHAR(127) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, -- what the group looks like
  done        BIGINT UNSIGNED NOT NULL,
  retried     BIGINT UNSIGNED NOT NULL,
  snoozed     BIGINT UNSIGNED NOT NULL,
  interrupted BIGINT UNSIGNED NOT NULL,
  dead        BIGINT UNSIGNED NOT NULL,
  cancelled   BIGINT UNSIGNED NOT NULL,
  crashed     BIGINT UNSIGNED NOT NULL,
  ran_us      BIGINT UNSIGNED NOT NULL,       -- how long handlers ran, all together
  ran_10ms    BIGINT UNSIGNED NOT NULL,       -- how many of them ran for so long at most
  ran_100ms   BIGINT UNSIGNED NOT NULL,       -- and longer than those before
  ran_1s      BIGINT UNSIGNED NOT NULL,
  ran_10s     BIGINT UNSIGNED NOT NULL,
  ran_1min    BIGINT UNSIGNED NOT NULL,
  ran_longer  BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (minute_at, origin, written, place)
) ENGINE=InnoDB;

-- How many tasks of a queue wait or run detached. Queue 0 says that somebody looked: a queue without a
-- row had none then.
CREATE TABLE IF NOT EXISTS queue_minute (
  minute_at DATETIME NOT NULL,
  queue_id  INT UNSIGNED NOT NULL,
  backlog   BIGINT UNSIGNED NOT NULL,
  estimated TINYINT UNSIGNED NOT NULL,        -- more than anybody counts: what the server believes
  PRIMARY KEY (minute_at, queue_id)
) ENGINE=InnoDB;

-- Attempts of an hour by queue and type, of all hosts together, for eight days. Each host adds what it
-- counted with its minute.
CREATE TABLE IF NOT EXISTS type_hour (
  hour_at       DATETIME NOT NULL,
  queue         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type          VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  done          BIGINT UNSIGNED NOT NULL,
  retried       BIGINT UNSIGNED NOT NULL,
  dead          BIGINT UNSIGNED NOT NULL,
  ran_0         BIGINT UNSIGNED NOT NULL,       -- how many handlers ran for so long, by the bounds of queue/minutes
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
  wait_0        BIGINT UNSIGNED NOT NULL,       -- how many tasks had been due for so long when they started
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

-- What the slots of an instance showed at `taken_at`: its workers and what they run, as JSON. For
-- people; nothing decides by it (decision 0030).
CREATE TABLE IF NOT EXISTS host_snapshot (
  origin   BIGINT UNSIGNED NOT NULL,          -- as of `instance`
  host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  writer   BIGINT UNSIGNED NOT NULL,          -- which steward: its holder id
  taken_at DATETIME(6) NOT NULL,
  state    MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (origin)
) ENGINE=InnoDB;

-- When an instance began to run another version or configuration, for 30 days. The former ones are
-- NULL where nothing is known of them.
CREATE TABLE IF NOT EXISTS deployment (
  host                 VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  instance             VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  since                DATETIME(6) NOT NULL,
  version              VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  configuration        VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,   -- a mark of its files
  former_version       VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  former_configuration VARCHAR(31) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (host, instance, since)
) ENGINE=InnoDB;

-- What the programs written for Fireworq see (decision 0026). A queue of theirs is a spread queue of
-- ours, and a row here with what they said of it. Names are bytes, as they were given.
CREATE TABLE IF NOT EXISTS fireworq_queue (
  queue_id                  INT UNSIGNED NOT NULL,
  name                      VARBINARY(255) NOT NULL,
  polling_interval          INT UNSIGNED NOT NULL,  -- ms; kept and shown, no more
  max_dispatches_per_second DOUBLE NULL,            -- NULL: no rate
  max_burst_size            INT UNSIGNED NULL,
  hidden_at                 DATETIME(6) NULL,       -- deleted since then; another PUT brings it back
  PRIMARY KEY (queue_id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

-- Which queue takes the jobs of a category. The queue may be deleted, and come back.
CREATE TABLE IF NOT EXISTS fireworq_routing (
  category   VARBINARY(255) NOT NULL,
  queue_name VARBINARY(255) NOT NULL,
  PRIMARY KEY (category)
) ENGINE=InnoDB;

-- The small numbers by which these programs know their jobs: one for each, written in the transaction
-- that submits it. A row whose task is gone is swept.
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
-- class. A worker that has one finds them here, and calls the tasks forward (S66).
CREATE TABLE IF NOT EXISTS deferred_type (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  type         VARCHAR(127) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  from_key     BIGINT UNSIGNED NOT NULL,              -- their keys are in this range ...
  to_key       BIGINT UNSIGNED NOT NULL,              -- ... and those up to now are due anyway
  PRIMARY KEY (queue_id, partition_no, prio, type)
) ENGINE=InnoDB;
