-- One row of submit.sql. The key of the statement's last row is returned as the insert id; the keys
-- before it are consecutive. :due is one of due_*.sql, :expires one of expires_*.sql or NULL, and
-- :queue_id of the first row placed_queue.sql in an ordered or limited queue.
(:queue_id, :partition_no, :prio, LAST_INSERT_ID(:due + :offset), :expires, :flags, :key_hash, :type,
 :payload, :headers)
