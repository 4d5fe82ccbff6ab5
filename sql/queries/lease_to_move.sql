-- Takes a free partition to move tasks out of it, also in a paused queue. No task runs under this
-- lease, so a worker that takes it over suspects none. A wait of the partition stays, also after
-- the release, with the name of its task if that still exists. Otherwise like lease.sql.
UPDATE q_lock_table
   SET defer_until = IF(state = 'FREE' AND expire_at > UTC_TIMESTAMP(6) AND defer_until < '9000-01-01',  -- S60
                       UTC_TIMESTAMP(6) + INTERVAL GREATEST(TIMESTAMPDIFF(MICROSECOND, expire_at, defer_until), 0)
                         MICROSECOND, defer_until),
       defer_key = IF(detail_epoch = epoch, defer_key, NULL),
       {new_holder},
       block_size = 0
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND (state = 'FREE' OR lock_by = :holder)
   AND {unlocked NOWAIT};
SELECT epoch
  FROM q_lock_table
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND lock_by = :holder AND state <> 'FREE';
