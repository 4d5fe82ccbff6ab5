-- The subquery locks the schedule first, as a tick does.
DELETE FROM schedule_tick
 WHERE schedule_id = (SELECT schedule_id FROM schedule WHERE name = :name FOR UPDATE);
DELETE FROM schedule WHERE name = :name;
