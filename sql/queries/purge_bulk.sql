-- Keeps ended actions for a week, and only the newest: those up to :last_number are deleted
-- earlier. An open one stays.
DELETE /*+ INDEX(bulk_action ended_at) */ FROM bulk_action
 WHERE ended_at < UTC_TIMESTAMP(6) - INTERVAL 7 DAY
 LIMIT :limit;
DELETE /*+ INDEX(bulk_action PRIMARY) */ FROM bulk_action
 WHERE action_id <= :last_number AND ended_at IS NOT NULL
 LIMIT :limit;
