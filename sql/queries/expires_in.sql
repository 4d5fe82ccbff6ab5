-- As expires_at.sql: so long after its submission.
(UTC_TIMESTAMP(6) + INTERVAL :expires_in_us MICROSECOND)
