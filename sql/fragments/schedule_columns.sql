-- Columns of a schedule after its payload.
prio, delay_us, unique_key, unique_for_us, partition_key, expires_in_us,
       late, late_after_us, catch_up, overlap, jitter_us, tick_field,
       {unix next_run}, {unix due_at}, {unix resumed_at}, {unix paused_at}, pause_reason,
       {unix last_run}, last_queue_id, last_partition_no, last_prio, last_key,
       ticks, submitted, skipped, dropped, error, {unix error_since},
       applied, revision
