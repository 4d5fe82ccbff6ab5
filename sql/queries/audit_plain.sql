-- Part of write_audit.sql: an action that always has an effect.
SELECT :of_queue AS of_queue, :into_queue AS into_queue, NULL AS how_many
