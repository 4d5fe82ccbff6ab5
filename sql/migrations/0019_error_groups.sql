-- The group that errors are counted by, so that a group is found without a look at every dead task.
ALTER TABLE task_dead MODIFY COLUMN fault VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  ADD COLUMN error_group CHAR(12) CHARACTER SET ascii COLLATE ascii_bin
    AS (LEFT(SHA2(CONCAT_WS(' ', queue_id, type, cause, fault), 256), 12)) STORED,
  ADD KEY error_group (queue_id, error_group, died_at);
ALTER TABLE task_attempt MODIFY COLUMN fault VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  ADD COLUMN error_group CHAR(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  ADD KEY error_group (queue_id, error_group, ended_at);
