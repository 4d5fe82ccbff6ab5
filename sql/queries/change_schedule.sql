-- Changes a schedule, unless it was changed, or had a tick that the new next_run does not include,
-- since it was read. Counts, ticks and a pause stay.
-- Rules: S34, S35.
UPDATE schedule
   SET version = GREATEST(version + 1, {now}),
       expression = :expression, zone = :zone, queue = :queue, type = :type, payload = :payload,
       prio = :prio, delay_us = :delay_us, unique_key = :unique_key, unique_for_us = :unique_for_us,
       partition_key = :partition_key, expires_in_us = :expires_in_us, late = :late,
       late_after_us = :late_after_us, catch_up = :catch_up, overlap = :overlap,
       jitter_us = :jitter_us, tick_field = :tick_field, next_run = :next_run, due_at = :due_at,
       applied = :applied, revision = :revision, error = NULL, error_since = NULL,
       changed_at = UTC_TIMESTAMP(6)
 WHERE schedule_id = :schedule_id AND version = :version AND next_run <=> :seen_next_run;
