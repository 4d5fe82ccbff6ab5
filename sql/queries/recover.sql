-- Takes a detached task whose holder is silent (S4, S20), to charge it and put it back. The row
-- keeps where it ran, for record_detached.sql. No other holder has the next epoch: the release of
-- the task's partition used that number up. Does not wait for a locked row. The task may have
-- crashed its host, and has a flag for that from now on.
UPDATE task_running
   SET epoch = epoch + 1, flags = flags | :suspect_flag,
       lock_by = :holder, lock_origin = :origin,
       expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND, ttl_us = :ttl_us
 WHERE {this_id}
   AND epoch = :seen_epoch AND expire_at = :seen_expire_at
   AND (:stale OR expire_at < UTC_TIMESTAMP(6))
   AND (:former  -- of this host's earlier run, which is over; otherwise S48, as in takeover.sql
        OR (SELECT since FROM server_identity WHERE only_row = 1)
           <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + COALESCE(ttl_us, 3600000000) MICROSECOND)
   AND (0 OR EXISTS (SELECT 1 FROM (SELECT 1 FROM task_running
                                     WHERE {this_id}
                                     LIMIT 1 FOR UPDATE NOWAIT) AS unlocked));
