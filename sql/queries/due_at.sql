-- Like due_now.sql, at a moment (us since 2025), or at once when that has passed. Adds up to
-- 66 ms, or many tasks with one due time would take each other's keys.
(GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)),
          :run_at_us + (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) & 65535)) << 12)
