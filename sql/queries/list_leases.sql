-- Held leases, for people; the last column as in why.sql.
SELECT queue.name, lease.partition_no, lease.lock_host, lease.lock_instance, lease.lock_pid,
       lease.lock_origin, {moment lease.expire_at},
       lease.expire_at < UTC_TIMESTAMP(6),
       {silent_since lease}
  FROM q_lock_table AS lease
  JOIN queue ON queue.queue_id = lease.queue_id
 WHERE lease.state <> 'FREE'
 LIMIT :limit;
