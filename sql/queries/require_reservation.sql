-- For a tick that waits while the task of an earlier one exists: fails (1690, out of range) if the
-- reservation is not ours. The tick then stays due, and nothing is written. :key is reserved_key.sql.
SELECT ~0 + ((:key) IS NULL);
