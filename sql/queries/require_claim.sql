-- For a tick that waits while the task of an earlier one lives: fails (1690, out of range) when the
-- claim is not ours. The tick stays due then, and nothing is written. :key is claimed_key.sql.
SELECT ~0 + ((:key) IS NULL);
