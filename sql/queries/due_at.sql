-- Like due_now.sql, at a moment (us since 2025), or at once when that has passed. Adds up to
-- 66 ms, or many tasks with one due time would take each other's keys.
(GREATEST({now},
          :run_at_us + ({now} & 65535)) << 12)
