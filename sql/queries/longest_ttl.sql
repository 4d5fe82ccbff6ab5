-- The longest TTL of all leases so far; NULL: no lease yet.
SELECT MAX(ttl_us) FROM q_lock_table;
