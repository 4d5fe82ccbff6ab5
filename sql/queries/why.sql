-- Reasons why a task waits besides its turn: the state of its partition, and whether it is due.
SELECT lease.epoch, lease.state, lease.lock_host, lease.lock_pid,
       {moment lease.expire_at}, lease.expire_at < UTC_TIMESTAMP(6),
       IF(lease.defer_until > UTC_TIMESTAMP(6) AND lease.defer_until < '9000-01-01'
            AND NOT (COALESCE(lease.detail_epoch = lease.epoch AND lease.defer_key IS NOT NULL, 0)
                     AND (SELECT run_key FROM task
                           WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
                             AND task.prio = lease.defer_prio
                             AND task.run_key = lease.defer_key) IS NULL),
          {moment lease.defer_until}, NULL),
       IF(pause.paused, {moment pause.paused_at}, NULL), pause.reason,
       :run_key <= ({now} << 12) + 4095,
       lease.defer_until >= '9000-01-01', lease.lock_origin,
       {silent_since lease},
       -- Time until its queue's rate lets a task start, as in scout_rated.sql. NULL: no rate.
       IF(pause.rated,
          (SELECT {next_start} FROM queue_bucket WHERE queue_id = :queue_id), NULL)
  FROM q_lock_table AS lease
  LEFT JOIN queue_pause AS pause ON pause.queue_id = lease.queue_id
 WHERE lease.queue_id = :queue_id AND lease.partition_no = :partition_no;
