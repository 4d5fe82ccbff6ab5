-- Like expires_at.sql, but counted from the task's submission.
(UTC_TIMESTAMP(6) + INTERVAL :expires_in_us MICROSECOND)
