-- End of a minute: the heartbeat, and the totals so far.
UPDATE instance
   SET since = IF(run_id = :run_id, since, UTC_TIMESTAMP(6) - INTERVAL :age_us MICROSECOND),
       run_id = :run_id, host = :host, instance = :instance, version = :version, pools = :pools,
       seen_at = UTC_TIMESTAMP(6), write_no = write_no + 1, totals = :totals
 WHERE origin = :origin;
SELECT SECOND(UTC_TIMESTAMP());
