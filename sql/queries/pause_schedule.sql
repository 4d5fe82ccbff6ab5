-- Stops ticks until resume_schedule.sql. For a paused schedule only the reason changes.
UPDATE schedule
   SET version = IF(paused_at IS NULL,
                    GREATEST(version + 1, {now}), version),
       paused_at = COALESCE(paused_at, UTC_TIMESTAMP(6)), pause_reason = :reason
 WHERE name = :name;
