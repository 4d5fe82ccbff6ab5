-- Part of write_audit.sql: the action has an effect whatever there is.
SELECT :of_queue AS of_queue, :into_queue AS into_queue, NULL AS how_many
