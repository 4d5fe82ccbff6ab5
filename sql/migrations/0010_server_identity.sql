-- Which server wrote last (S48), in one row: expiry times are of its clock. number grows with each
-- change of server, since is when the last one was noticed, by the clock of the server that is there
-- now, and streak is how many changes there were since ten minutes passed without one.
CREATE TABLE IF NOT EXISTS server_identity (
  only_row TINYINT UNSIGNED NOT NULL,
  identity VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  number   BIGINT UNSIGNED NOT NULL,
  since    DATETIME(6) NOT NULL,
  streak   INT UNSIGNED NOT NULL,
  PRIMARY KEY (only_row)
) ENGINE=InnoDB;
