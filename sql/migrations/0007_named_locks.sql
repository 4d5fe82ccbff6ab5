-- Named locks: a row for each slot of each name, made at its first use and never deleted, so that its
-- epochs never repeat. The low ten bits of an epoch are the slot, so that a token names it.
CREATE TABLE IF NOT EXISTS named_lock (
  name      VARBINARY(255) NOT NULL,
  slot      SMALLINT UNSIGNED NOT NULL,
  slots     SMALLINT UNSIGNED NOT NULL,   -- of this name, the same in all its rows; from there on none is taken
  epoch     BIGINT UNSIGNED NOT NULL,     -- the token
  state     VARCHAR(15) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expire_at DATETIME(6) NOT NULL,
  ttl_us    BIGINT UNSIGNED NOT NULL,
  taken_at  DATETIME(6) NOT NULL,
  lock_by   BIGINT UNSIGNED NULL,         -- a random number of one taking
  lock_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  lock_pid  INT UNSIGNED NULL,
  PRIMARY KEY (name, slot),
  KEY lock_by (lock_by)
) ENGINE=InnoDB;

-- Who waits for a lock, in the order of arrival.
CREATE TABLE IF NOT EXISTS lock_ticket (
  ticket    BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name      VARBINARY(255) NOT NULL,
  lock_by   BIGINT UNSIGNED NOT NULL,     -- as it will stand in named_lock
  lock_host VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  lock_pid  INT UNSIGNED NOT NULL,
  expire_at DATETIME(6) NOT NULL,
  ttl_us    BIGINT UNSIGNED NOT NULL,
  drawn_at  DATETIME(6) NOT NULL,
  PRIMARY KEY (ticket),
  UNIQUE KEY lock_by (lock_by),
  KEY name (name, ticket)
) ENGINE=InnoDB;
