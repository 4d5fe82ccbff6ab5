-- Keys that only one task at a time may have (A4). Tasks without a key have no row here.

CREATE TABLE IF NOT EXISTS task_unique (
  queue_id     INT UNSIGNED NOT NULL,
  unique_key   VARBINARY(255) NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,            -- the task that has it: with queue_id and the
  prio         TINYINT UNSIGNED NOT NULL,             -- next two its public id
  first_key    BIGINT UNSIGNED NOT NULL,
  claim        BIGINT UNSIGNED NOT NULL,              -- which submission made that task
  keep_us      BIGINT UNSIGNED NOT NULL,              -- how long the key stays taken after its end
  free_at      DATETIME(6) NULL,                      -- UTC; NULL while the task lives
  PRIMARY KEY (queue_id, unique_key),
  KEY task (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;
