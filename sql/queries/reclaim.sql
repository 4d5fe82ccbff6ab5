-- Frees the leases of an earlier run of this instance (S11). Tasks in flight are suspect (S7). The
-- condition on queue_id is always true; without one on a key, sql_safe_updates refuses.
UPDATE q_lock_table
   SET suspect_to = ({now} << 12) + 4095,
       suspect_n = GREATEST(suspect_n, block_size),
       state = 'FREE', epoch = epoch + 1, expire_at = UTC_TIMESTAMP(6),
       lock_by = NULL, lock_origin = NULL, lock_host = NULL, lock_instance = NULL, lock_pid = NULL
 WHERE queue_id > 0 AND lock_origin = :origin AND state <> 'FREE';
