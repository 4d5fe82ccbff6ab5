-- For the steward: what the due ones submit. It asks once for each version, and for a payload that is
-- large each time, so that it does not keep all of them.
SELECT schedule_id, version, name, expression, zone, queue, type,
       IF(OCTET_LENGTH(payload) > :inline_limit, '', payload),
       prio, delay_us, unique_key, unique_for_us, partition_key, expires_in_us,
       late, late_after_us, catch_up, overlap, jitter_us, tick_field,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', next_run),
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', due_at),
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', resumed_at),
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', paused_at),
       pause_reason,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', last_run),
       last_queue_id, last_partition_no, last_prio, last_key,
       ticks, submitted, skipped, dropped,
       error, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', error_since),
       applied, revision,
       OCTET_LENGTH(payload)
  FROM schedule
 WHERE schedule_id IN (:schedule_ids);
