-- The key of the plain task that the statement before has made, for advance_tick.sql and
-- record_run.sql. The only part of a statement that asks the session: what is done does not depend on
-- it, and a statement that failed ends the packet.
LAST_INSERT_ID()
