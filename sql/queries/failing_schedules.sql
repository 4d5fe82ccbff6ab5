-- For notices: schedules whose tick cannot be submitted, and those whose last tick was dropped.
SELECT schedule.name, COALESCE(schedule.error, last_tick.reason)
  FROM schedule
  LEFT JOIN schedule_tick AS last_tick
    ON last_tick.schedule_id = schedule.schedule_id AND last_tick.tick_no = schedule.ticks
 WHERE schedule.paused_at IS NULL
   AND (schedule.error IS NOT NULL OR last_tick.first_key IS NULL AND last_tick.reason LIKE 'dropped%')
 ORDER BY schedule.name;
