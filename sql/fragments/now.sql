-- The database's clock in microseconds since 2025, as in the upper bits of a run key.
TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))
