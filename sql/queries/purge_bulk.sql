-- Ended actions are kept for a week, and of the newest 10,000 only. One that is not ended stays.
DELETE /*+ INDEX(bulk_action ended_at) */ FROM bulk_action
 WHERE ended_at < UTC_TIMESTAMP(6) - INTERVAL 7 DAY
 ORDER BY ended_at
 LIMIT :most;
DELETE /*+ INDEX(bulk_action PRIMARY) */ FROM bulk_action
 WHERE action_id <= (SELECT old.action_id
                       FROM (SELECT action_id FROM bulk_action
                              ORDER BY action_id DESC LIMIT 1 OFFSET 10000) AS old)
   AND ended_at IS NOT NULL
 ORDER BY action_id
 LIMIT :most;
