-- Leases that are held, for people; the last column as in why.sql.
SELECT queue.name, lease.partition_no, lease.lock_host, lease.lock_instance, lease.lock_pid,
       lease.lock_origin, DATE_FORMAT(lease.expire_at, '%Y-%m-%dT%H:%i:%s.%fZ'),
       lease.expire_at < UTC_TIMESTAMP(6),
       IF(lease.expire_at - INTERVAL lease.ttl_us DIV 2 MICROSECOND < UTC_TIMESTAMP(6),
          DATE_FORMAT(lease.expire_at - INTERVAL lease.ttl_us MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ'), NULL)
  FROM q_lock_table AS lease
  JOIN queue ON queue.queue_id = lease.queue_id
 WHERE lease.state <> 'FREE'
 LIMIT :most;
