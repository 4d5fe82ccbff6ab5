-- Makes a missing lease row (S59). Its holder may still start tasks, so the new row is leased
-- without a holder for :ttl_us, which is longer than any lease, and is taken over like a lost
-- lease: a watcher waits for half of ttl_us by its own clock, and for expire_at.
INSERT IGNORE INTO q_lock_table (queue_id, partition_no, state, epoch, detail_epoch,
                                 lock_host, lock_instance, lock_pid, expire_at, ttl_us)
VALUES (:queue_id, :partition_no, 'LOCKED',
        {now},
        {now},
        '', '', 0, UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND, 2 * :ttl_us);
