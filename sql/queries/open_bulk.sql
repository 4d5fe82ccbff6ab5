-- Actions that have not ended, and the time until each may continue, as in find_bulk.sql.
SELECT action_id,
       IF(next_at > UTC_TIMESTAMP(6) + INTERVAL 2 SECOND, 0,
          GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_at)))
  FROM bulk_action
 WHERE ended_at IS NULL
 ORDER BY action_id
 LIMIT :limit;
