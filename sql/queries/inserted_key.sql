-- Key of the plain task that the statement before has made, for advance_tick.sql and
-- record_run.sql. The only part of a statement that reads the session: no write depends on it, and
-- a failed statement ends the packet.
LAST_INSERT_ID()
