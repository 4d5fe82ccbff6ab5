-- Ordered and limited queues may be resized (S17): the partitions of the new layout are others than
-- those of the former one, and wait until that is empty. The comments are ones that MariaDB executes:
-- a migration that was cut off is run again.

-- New tasks go to the partitions from first_partition on. layout counts the layouts; a submission to
-- an ordered or limited queue holds on to the one that it placed its task by.
ALTER TABLE queue
  ADD COLUMN /*M!100002 IF NOT EXISTS */ first_partition SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN /*M!100002 IF NOT EXISTS */ layout INT UNSIGNED NOT NULL DEFAULT 0,
  ALGORITHM=INSTANT;

-- CRC-32 of the partition_key, in ordered and limited queues: where a dead task's place is by now.
ALTER TABLE task
  ADD COLUMN /*M!100002 IF NOT EXISTS */ key_hash INT UNSIGNED NULL,
  ALGORITHM=INSTANT;
ALTER TABLE task_dead
  ADD COLUMN /*M!100002 IF NOT EXISTS */ key_hash INT UNSIGNED NULL,
  ALGORITHM=INSTANT;
