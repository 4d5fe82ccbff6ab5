-- What a task waits for besides its turn: the state of its partition, and whether it is due.
SELECT lease.epoch, lease.state, lease.lock_host, lease.lock_pid,
       DATE_FORMAT(lease.expire_at, '%Y-%m-%dT%H:%i:%s.%fZ'), lease.expire_at < UTC_TIMESTAMP(6),
       IF(lease.hold_until > UTC_TIMESTAMP(6) AND lease.hold_until < '9000-01-01'
            AND NOT (COALESCE(lease.of_epoch = lease.epoch AND lease.hold_key IS NOT NULL, 0)
                     AND (SELECT run_key FROM task
                           WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
                             AND task.prio = lease.hold_prio
                             AND task.run_key = lease.hold_key) IS NULL),
          DATE_FORMAT(lease.hold_until, '%Y-%m-%dT%H:%i:%s.%fZ'), NULL),
       IF(pause.paused, DATE_FORMAT(pause.paused_at, '%Y-%m-%dT%H:%i:%s.%fZ'), NULL), pause.reason,
       :run_key <= (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + 4095,
       lease.hold_until >= '9000-01-01', lease.lock_origin,
       -- Since when its holder is silent: it renews at a third of the time that the lease lasts.
       IF(lease.expire_at - INTERVAL lease.ttl_us DIV 2 MICROSECOND < UTC_TIMESTAMP(6),
          DATE_FORMAT(lease.expire_at - INTERVAL lease.ttl_us MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ'), NULL),
       -- In how long its queue's rate lets a task start, as in scout_rated.sql. NULL: it has none.
       IF(pause.rated,
          (SELECT GREATEST(0, MIN(IF(next_free > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) + GREATEST(interval_us, 100000), 0,
                                     next_free - TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)))))
             FROM queue_bucket WHERE queue_id = :queue_id), NULL)
  FROM q_lock_table AS lease
  LEFT JOIN queue_pause AS pause ON pause.queue_id = lease.queue_id
 WHERE lease.queue_id = :queue_id AND lease.partition_no = :partition_no;
