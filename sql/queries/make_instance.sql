-- Makes the row of an instance if it is missing. Writes are counted from the current time on, so
-- that a row that was removed does not use a number twice.
INSERT INTO instance (origin, host, instance, version, life, since, seen_at, written, counted)
SELECT :origin, :host, :instance, :version, :life, begun_at, begun_at,
       {now}, :counted
  FROM (SELECT UTC_TIMESTAMP(6) - INTERVAL :age_us MICROSECOND AS begun_at) AS the_begin
    ON DUPLICATE KEY UPDATE origin = VALUES(origin);
