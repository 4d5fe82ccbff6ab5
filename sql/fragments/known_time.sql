-- The moment of known_now.sql as a time.
TIMESTAMP'2025-01-01 00:00:00' + INTERVAL {known_now} MICROSECOND
