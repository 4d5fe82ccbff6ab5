-- Like due_now.sql, behind a task of the same partition and class.
GREATEST(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12, :last_key + 1)
