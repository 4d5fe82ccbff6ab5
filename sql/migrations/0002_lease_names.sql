-- What a lease says about itself, so that nobody judges it by his own configuration. of_epoch is the
-- epoch that the other new columns of the row belong to. NULL, or another epoch: the row was written
-- by an Allot of the version before, which may be at work for a while yet.
ALTER TABLE q_lock_table ADD COLUMN of_epoch BIGINT UNSIGNED NULL, ALGORITHM=INSTANT;

-- How long the lease lasts without a renewal: its holder's lease_ttl (S4).
ALTER TABLE q_lock_table ADD COLUMN ttl_us BIGINT UNSIGNED NULL, ALGORITHM=INSTANT;
ALTER TABLE task_running ADD COLUMN ttl_us BIGINT UNSIGNED NULL, ALGORITHM=INSTANT;

-- The task that the partition waits for until hold_until, or NULL (S16): the wait ends with it.
ALTER TABLE q_lock_table ADD COLUMN hold_prio TINYINT UNSIGNED NULL, ALGORITHM=INSTANT;
ALTER TABLE q_lock_table ADD COLUMN hold_key BIGINT UNSIGNED NULL, ALGORITHM=INSTANT;
