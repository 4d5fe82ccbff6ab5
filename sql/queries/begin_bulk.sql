-- Begins a bulk action by the token of its count, which must not be older than an hour or in the
-- future. If repeated, or with a used token, it finds the existing action.
INSERT INTO bulk_action (token, kind, queue_id, dead_group, type, died_until, rate, counted, counted_all,
                         requested_by, started_at, next_at)
SELECT :token, :kind, :queue_id, :dead_group, :type, counted_at, :rate, :counted, :counted_all,
       :requested_by, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
  FROM (SELECT CAST('1970-01-01' AS DATETIME(6)) + INTERVAL :until_us MICROSECOND AS counted_at) AS the_count
 WHERE counted_at BETWEEN UTC_TIMESTAMP(6) - INTERVAL 1 HOUR AND UTC_TIMESTAMP(6)
    ON DUPLICATE KEY UPDATE token = VALUES(token);
SELECT action_id FROM bulk_action WHERE token = :token;
