-- What the programs written for Fireworq see (decision 0051). A queue of theirs is a spread queue of
-- ours, and a row here with what they said of it. Names are bytes, as they were given.
CREATE TABLE IF NOT EXISTS fireworq_queue (
  queue_id                  INT UNSIGNED NOT NULL,
  name                      VARBINARY(255) NOT NULL,
  polling_interval          INT UNSIGNED NOT NULL,  -- ms; kept and shown, no more
  max_workers               INT UNSIGNED NOT NULL,  -- jobs at a time, in the whole cluster
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
