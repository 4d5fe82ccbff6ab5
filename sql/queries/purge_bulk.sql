-- Ended actions are kept for a week, and the newest 10,000 only. One that is not ended stays.
DELETE /*+ INDEX(bulk_action ended_at) */ FROM bulk_action
 WHERE ended_at < UTC_TIMESTAMP(6) - INTERVAL 7 DAY
 LIMIT :most;
DELETE /*+ INDEX(bulk_action PRIMARY) */ FROM bulk_action
 WHERE action_id <= (SELECT last_number
                       FROM (SELECT GREATEST(MAX(action_id), 10000) - 10000 AS last_number
                               FROM bulk_action) AS too_old)
   AND ended_at IS NOT NULL
 LIMIT :most;
