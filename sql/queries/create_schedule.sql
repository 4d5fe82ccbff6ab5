-- The version is higher than any of an earlier schedule of this name, unless the clock was set
-- back; then the number of the schedule differs (S35).
INSERT INTO schedule
       (name, version, expression, zone, queue, type, payload, prio, delay_us, unique_key,
        unique_for_us, partition_key, expires_in_us, late, late_after_us, catch_up, overlap, jitter_us,
        tick_field, next_run, due_at, applied, revision, created_at, changed_at)
VALUES (:name, {now}, :expression, :zone, :queue,
        :type, :payload, :prio, :delay_us, :unique_key, :unique_for_us, :partition_key, :expires_in_us,
        :late, :late_after_us, :catch_up, :overlap, :jitter_us, :tick_field, :next_run, :due_at,
        :applied, :revision, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6));
