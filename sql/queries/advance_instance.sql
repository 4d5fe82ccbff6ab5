-- End of a minute: the heartbeat, and the totals so far.
UPDATE instance
   SET since = IF(life = :life, since, UTC_TIMESTAMP(6) - INTERVAL :age_us MICROSECOND),
       life = :life, host = :host, instance = :instance, version = :version, pools = :pools,
       seen_at = UTC_TIMESTAMP(6), written = written + 1, counted = :counted
 WHERE origin = :origin;
SELECT SECOND(UTC_TIMESTAMP());
