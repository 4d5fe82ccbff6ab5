-- Takes a partition whose holder is silent (S4), and records which tasks to suspect (S7). A worker
-- that passes :rated starts nothing under this lease, so a rate does not stop it. note_server.sql
-- comes before it: no takeover for the duration of a lease plus a second after a server change
-- (S48). suspect_n is the block size of the dead holder.
-- Rule: S42.
UPDATE q_lock_table
   SET suspect_to = IF(lock_by = :holder, suspect_to, {last_due_key}),
       suspect_n = IF(lock_by = :holder, suspect_n, GREATEST(suspect_n, block_size)),
       {new_holder},
       block_size = :block_size
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND state <> 'FREE'
   AND (lock_by = :holder  -- an earlier reply was lost, see lease.sql
        OR (epoch = :seen_epoch AND expire_at = :seen_expire_at
            AND (:stale OR expire_at < UTC_TIMESTAMP(6))
            AND (SELECT since FROM server_identity WHERE only_row = 1) <= UTC_TIMESTAMP(6)
                - INTERVAL 1000000 + COALESCE(IF(detail_epoch = epoch, ttl_us, NULL), 3600000000) MICROSECOND))
   AND (lock_by = :holder OR (SELECT 1 FROM queue_pause
                               WHERE queue_id = :queue_id AND (paused OR NOT :rated)) IS NULL)
   AND {unlocked :nowait};
{read_lease};
