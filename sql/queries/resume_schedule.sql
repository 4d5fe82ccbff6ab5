-- Ticks that were due in the pause are dropped by the next tick. A schedule that is not paused
-- stays unchanged: paused_at comes last, because the others depend on its former value.
UPDATE schedule
   SET version = IF(paused_at IS NULL,
                    version, GREATEST(version + 1, {now})),
       resumed_at = IF(paused_at IS NULL, resumed_at, UTC_TIMESTAMP(6)),
       pause_reason = '', paused_at = NULL
 WHERE name = :name;
