-- Like due_now.sql, after a delay.
(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6) + INTERVAL :delay_us MICROSECOND) << 12)
