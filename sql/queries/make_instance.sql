-- The row of an instance, if there is none. It was not seen before it began. Writes are counted from the
-- time on, so that a row that somebody removed does not number them again.
INSERT INTO instance (origin, host, instance, version, life, since, seen_at, written, counted)
SELECT :origin, :host, :instance, :version, :life, begun_at, begun_at,
       {now}, :counted
  FROM (SELECT UTC_TIMESTAMP(6) - INTERVAL :age_us MICROSECOND AS begun_at) AS the_begin
    ON DUPLICATE KEY UPDATE origin = VALUES(origin);
