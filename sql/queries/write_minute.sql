-- Runs after the guard and before advance_instance.sql: counts since the last write. :counts is a
-- SELECT for each row, joined by UNION ALL.
INSERT INTO attempt_minute (minute_at, origin, write_no, seconds, row_no, queue, type, error_group, error,
                         done, retried, snoozed, interrupted, dead, cancelled, crashed,
                         ran_us, ran_10ms, ran_100ms, ran_1s, ran_10s, ran_1min, ran_longer)
SELECT UTC_TIMESTAMP() - INTERVAL SECOND(UTC_TIMESTAMP()) SECOND, instance.origin, instance.write_no + 1,
       GREATEST(0, LEAST(TIMESTAMPDIFF(SECOND, instance.seen_at, UTC_TIMESTAMP(6)), :age_us DIV 1000000)),
       counts.*
  FROM instance
  JOIN (:counts) AS counts
 WHERE instance.origin = :origin;
