-- For notices: schedules whose tick cannot be submitted, and those that dropped ticks within the
-- last hour, because they were late or because a task took longer than until the next tick. Ticks
-- dropped in a pause are intended. The reasons come from queue/schedules/policy.
SELECT schedule.name,
       COALESCE(schedule.error,
                (SELECT reason FROM schedule_tick FORCE INDEX (PRIMARY)
                  WHERE schedule_tick.schedule_id = schedule.schedule_id
                    AND first_key IS NULL AND at > UTC_TIMESTAMP(6) - INTERVAL 1 HOUR
                    AND (reason LIKE '% late' OR reason LIKE '% while a task was not finished')
                  ORDER BY schedule_id DESC, tick_no DESC LIMIT 1)) AS reason
  FROM schedule
 WHERE schedule.paused_at IS NULL
HAVING reason IS NOT NULL
 ORDER BY schedule.name;
