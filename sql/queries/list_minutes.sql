-- Counts of all instances, in steps of that many minutes, by queue; :types: also by type; :errors:
-- only failed attempts, by error group. Newest first.
SELECT DATE_FORMAT(DATE_ADD('2025-01-01', INTERVAL (TIMESTAMPDIFF(MINUTE, '2025-01-01', minute_at) DIV :step * :step) MINUTE),
                   '%Y-%m-%dT%H:%i:%sZ') AS at,
       queue, IF(:types, type, '') AS of_type, error_group, MAX(error),
       SUM(done), SUM(retried), SUM(snoozed), SUM(interrupted), SUM(dead), SUM(cancelled), SUM(crashed),
       SUM(ran_us), SUM(ran_10ms), SUM(ran_100ms), SUM(ran_1s), SUM(ran_10s), SUM(ran_1min), SUM(ran_longer)
  FROM attempt_minute
 WHERE minute_at >= UTC_TIMESTAMP() - INTERVAL :since_us MICROSECOND
   AND (error_group <> '') = :errors AND (:queue = '' OR queue = :queue)
 GROUP BY at, queue, of_type, error_group
 ORDER BY at DESC, queue, of_type, error_group
 LIMIT :limit;
