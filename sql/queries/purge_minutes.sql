-- Deletes in the order of the tables: minutes older than a week, types older than eight days,
-- snapshots older than a day, deployments older than a month, and instances not seen for a month.
DELETE /*+ INDEX(attempt_minute PRIMARY) */ FROM attempt_minute
 WHERE minute_at < UTC_TIMESTAMP() - INTERVAL 7 DAY
 ORDER BY minute_at, origin, write_no, row_no
 LIMIT :limit;
DELETE /*+ INDEX(queue_minute PRIMARY) */ FROM queue_minute
 WHERE minute_at < UTC_TIMESTAMP() - INTERVAL 7 DAY
 ORDER BY minute_at, queue_id
 LIMIT :limit;
DELETE /*+ INDEX(type_hour PRIMARY) */ FROM type_hour
 WHERE hour_at < UTC_TIMESTAMP() - INTERVAL 8 DAY
 ORDER BY hour_at, queue, type
 LIMIT :limit;
DELETE /*+ INDEX(host_snapshot PRIMARY) */ FROM host_snapshot
 WHERE origin >= 0 AND taken_at < UTC_TIMESTAMP(6) - INTERVAL 1 DAY
 LIMIT :limit;
DELETE /*+ INDEX(deployment PRIMARY) */ FROM deployment
 WHERE host >= '' AND since < UTC_TIMESTAMP(6) - INTERVAL 30 DAY
 LIMIT :limit;
DELETE /*+ INDEX(instance PRIMARY) */ FROM instance
 WHERE origin >= 0 AND seen_at < UTC_TIMESTAMP(6) - INTERVAL 30 DAY
 LIMIT :limit;
