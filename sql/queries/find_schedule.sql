-- All columns of a schedule, as in list_schedules.sql and fetch_schedules.sql.
SELECT schedule_id, version, name, expression, zone, queue, type, payload,
       {schedule_columns}
  FROM schedule
 WHERE name = :name;
