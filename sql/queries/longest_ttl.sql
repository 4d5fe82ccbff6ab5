-- The longest lease of all that were given; NULL: none was.
SELECT MAX(ttl_us) FROM q_lock_table;
