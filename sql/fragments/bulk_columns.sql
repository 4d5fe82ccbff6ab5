-- The columns of a bulk action.
action_id, kind, queue_id, (SELECT name FROM queue WHERE queue.queue_id = bulk_action.queue_id),
       dead_group, type, {unix died_until},
       {moment died_until}, rate, counted, counted_all, requested_by,
       {moment started_at}, state, batches,
       after_partition_no, after_prio, after_key, done,
       {moment ended_at}, stopped_by, error,
       IF(next_at > UTC_TIMESTAMP(6) + INTERVAL 2 SECOND, 0,
          GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), next_at)))
