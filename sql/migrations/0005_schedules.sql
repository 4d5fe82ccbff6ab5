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
  type          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
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
