-- Types of tasks that were put back because a worker had no handler for them (S65), by partition and
-- class. A worker that has one finds them here, and calls the tasks forward (S66).
CREATE TABLE IF NOT EXISTS deferred_type (
  queue_id     INT UNSIGNED NOT NULL,
  partition_no SMALLINT UNSIGNED NOT NULL,
  prio         TINYINT UNSIGNED NOT NULL,
  type         VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  from_key     BIGINT UNSIGNED NOT NULL,              -- their keys are in this range ...
  to_key       BIGINT UNSIGNED NOT NULL,              -- ... and those up to now are due anyway
  PRIMARY KEY (queue_id, partition_no, prio, type)
) ENGINE=InnoDB;
