-- For people: all schedules, without their payloads.
SELECT schedule_id, version, name, expression, zone, queue, type, '',
       {schedule_columns}
  FROM schedule
 ORDER BY name;
