-- One row of submit.sql. The key of the statement's last row comes back as the insert id; the keys
-- before it are consecutive, because UTC_TIMESTAMP is constant within a statement.
(:queue_id, :partition_no, :prio,
 LAST_INSERT_ID((TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + :offset),
 :type, :payload)
