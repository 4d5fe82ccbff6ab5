-- For people: the newest first, before a number. The columns are those of find_bulk.sql.
SELECT action_id, kind, queue_id, (SELECT name FROM queue WHERE queue.queue_id = bulk_action.queue_id),
       dead_group, type, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', died_until),
       DATE_FORMAT(died_until, '%Y-%m-%dT%H:%i:%s.%fZ'), rate, counted, counted_all, asked_by,
       DATE_FORMAT(begun_at, '%Y-%m-%dT%H:%i:%s.%fZ'), state, batches,
       after_partition_no, after_prio, after_key, done,
       DATE_FORMAT(ended_at, '%Y-%m-%dT%H:%i:%s.%fZ'), stopped_by, error,
       IF(next_at > UTC_TIMESTAMP(6) + INTERVAL 2 SECOND, 0,
          GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_at)))
  FROM bulk_action
 WHERE action_id < :before
 ORDER BY action_id DESC
 LIMIT :most;
