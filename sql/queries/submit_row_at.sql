-- A row of submit.sql that is due at a moment (us since 2025): at once when that has passed. Up to a
-- second is added, or many tasks with one due time would take each other's keys.
(:queue_id, :partition_no, :prio,
 LAST_INSERT_ID((GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)),
                          :run_at_us + (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))
                                        & 1048575)) << 12) + :offset),
 :type, :payload)
