-- A cancel of a task that runs is a request, which its worker looks for while it runs. It goes with
-- the task. Only tasks that somebody cancels have a row.
CREATE TABLE IF NOT EXISTS task_cancel (
  queue_id      INT UNSIGNED NOT NULL,
  partition_no  SMALLINT UNSIGNED NOT NULL,
  prio          TINYINT UNSIGNED NOT NULL,
  first_key     BIGINT UNSIGNED NOT NULL,             -- with the three before it: the public id
  reason        MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  asked_at      DATETIME(6) NOT NULL,                 -- UTC
  PRIMARY KEY (queue_id, partition_no, prio, first_key)
) ENGINE=InnoDB;
