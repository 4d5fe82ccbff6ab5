-- A rate limits how many tasks of a queue start in a second (A11). Such a queue has a row in
-- queue_pause as well, so that whoever knows no rates leases nothing of it (S42). An Allot of the
-- version before reads there that the queue is paused, and why.
ALTER TABLE queue_pause ADD COLUMN rated TINYINT UNSIGNED NOT NULL DEFAULT 0;
-- Whether somebody has paused the queue. The version before pauses a rated queue, too: it gives the
-- row another reason.
ALTER TABLE queue_pause ADD COLUMN paused TINYINT UNSIGNED
  AS (rated = 0 OR reason <> 'a rate limits its starts') VIRTUAL;

-- What an operator asked for. The row keeps that of queue_pause there: the version before would
-- delete it, to resume the queue, and it is refused.
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
