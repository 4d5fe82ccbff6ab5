-- What curves are drawn from (decision 0048): what the workers of each instance counted, minute by minute,
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
  PRIMARY KEY (origin)
) ENGINE=InnoDB;

-- Of each write the attempts since the one before, by queue and type, those that no row has room for
-- in a row named other; and by error group (not empty) the failed ones among them once more.
CREATE TABLE IF NOT EXISTS attempt_minute (
  minute_at   DATETIME NOT NULL,
  origin      BIGINT UNSIGNED NOT NULL,
  written     BIGINT UNSIGNED NOT NULL,       -- which write of the instance
  place       TINYINT UNSIGNED NOT NULL,      -- which row of the write
  seconds     INT UNSIGNED NOT NULL,          -- since the write before
  queue       VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  type        VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
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
