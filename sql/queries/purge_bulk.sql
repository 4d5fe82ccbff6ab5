-- Ended actions are kept for a week, and the newest only: those up to :last_number go before. One that
-- is not ended stays.
DELETE /*+ INDEX(bulk_action ended_at) */ FROM bulk_action
 WHERE ended_at < UTC_TIMESTAMP(6) - INTERVAL 7 DAY
 LIMIT :most;
DELETE /*+ INDEX(bulk_action PRIMARY) */ FROM bulk_action
 WHERE action_id <= :last_number AND ended_at IS NOT NULL
 LIMIT :most;
