-- A lease row that is missing (S59). Its holder may still start tasks, so the new row is leased by nobody
-- for :ttl_us, which is longer than any lease, and is taken over like one whose holder is lost: what a
-- watcher waits for is half of ttl_us by its own clock, and expire_at.
INSERT IGNORE INTO q_lock_table (queue_id, partition_no, state, epoch, of_epoch,
                                 lock_host, lock_instance, lock_pid, expire_at, ttl_us)
VALUES (:queue_id, :partition_no, 'LOCKED',
        {now},
        {now},
        '', '', 0, UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND, 2 * :ttl_us);
