-- Latest start of a task (A14): a moment (us since 2025).
DATE_ADD('2025-01-01', INTERVAL :expires_at_us MICROSECOND)
