-- Makes the row of an instance if it is missing. Writes are counted from the current time on, so
-- that a row that was removed does not use a number twice.
INSERT INTO instance (origin, host, instance, version, run_id, since, seen_at, write_no, totals)
SELECT :origin, :host, :instance, :version, :run_id, started_at, started_at,
       {now}, :totals
  FROM (SELECT UTC_TIMESTAMP(6) - INTERVAL :age_us MICROSECOND AS started_at) AS the_begin
    ON DUPLICATE KEY UPDATE origin = VALUES(origin);
