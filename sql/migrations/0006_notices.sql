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
