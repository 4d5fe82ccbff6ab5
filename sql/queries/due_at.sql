-- Like due_now.sql, at a moment (us since 2025), or at once if that has passed. Adds up to 66 ms;
-- otherwise many tasks with one due time would compete for the same keys.
(GREATEST({now},
          :run_at_us + ({now} & 65535)) << 12)
