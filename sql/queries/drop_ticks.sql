-- Runs after advance_tick.sql: the ticks that it dropped besides its own, as one row that names the
-- newest.
INSERT INTO schedule_tick
SELECT schedule_id, ticks - 1, :tick, UTC_TIMESTAMP(6), NULL, NULL, NULL, NULL, :reason
  FROM schedule
 WHERE schedule_id = :schedule_id;
