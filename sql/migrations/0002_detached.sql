-- Detached tasks: they run long, and left their partition with a lease of their own (B12). A task is
-- here or in task, never in both.

CREATE TABLE IF NOT EXISTS task_running (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  prio          TINYINT UNSIGNED NOT NULL,
  first_key     BIGINT UNSIGNED NOT NULL,             -- with the three before it: the public id
  run_key       BIGINT UNSIGNED NOT NULL,             -- where it stood, and may stand again
  attempt       TINYINT UNSIGNED NOT NULL,            -- the number of the attempt that runs
  flags         TINYINT UNSIGNED NOT NULL DEFAULT 0,
  type          VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  payload       MEDIUMBLOB NOT NULL,
  epoch         BIGINT UNSIGNED NOT NULL,             -- that of the lease which it left (S2)
  lock_by       BIGINT UNSIGNED NOT NULL,             -- holder: random per worker start
  lock_origin   BIGINT UNSIGNED NOT NULL,             -- host and instance as one number, for S11
  lock_host     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- where it runs,
  lock_instance VARCHAR(31) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,   -- for people
  lock_pid      INT UNSIGNED NOT NULL,
  expire_at     DATETIME(6) NOT NULL,                 -- UTC
  detached_at   DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;
