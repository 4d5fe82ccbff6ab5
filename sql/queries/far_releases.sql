-- Free partitions that were released by a clock that was ahead (S60).
SELECT queue_id, partition_no
  FROM q_lock_table
 WHERE state = 'FREE' AND expire_at > UTC_TIMESTAMP(6) + INTERVAL 1 SECOND
 LIMIT :limit;
