-- A row of submit.sql that is due after a delay. A whole statement has the same one, so that its keys
-- are consecutive too.
(:queue_id, :partition_no, :prio,
 LAST_INSERT_ID((TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                               UTC_TIMESTAMP(6) + INTERVAL :delay_us MICROSECOND) << 12) + :offset),
 :type, :payload)
