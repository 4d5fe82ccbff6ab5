-- Routes: which queue takes the tasks of a type that are submitted to another queue, or to none (A10).
-- Who submits looks here once, and only where the queue's row says so.
CREATE TABLE IF NOT EXISTS route (
  queue_id  INT UNSIGNED NOT NULL,          -- that the tasks are submitted to; 0: any, also none
  is_prefix BOOLEAN NOT NULL,
  pattern   VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- a type, or how types begin
  target_id INT UNSIGNED NOT NULL,          -- the queue that takes them
  set_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (queue_id, is_prefix, pattern)
) ENGINE=InnoDB;

-- Whoever sets or removes a route locks this row, and whoever makes a queue reads it: it stands for no
-- type, because none is empty.
INSERT IGNORE INTO route VALUES (0, 0, '', 0, UTC_TIMESTAMP(6));

-- Whether a route takes tasks that are submitted to this queue. NULL: nobody knows, look. Only an Allot of
-- the version before makes such a row, and the next change of a route ends it.
ALTER TABLE queue ADD COLUMN routed BOOLEAN NULL, ALGORITHM=INSTANT;
UPDATE queue SET routed = 0 WHERE queue_id > 0 AND routed IS NULL;
