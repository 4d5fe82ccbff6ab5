-- Stores why the current tick cannot be submitted; once, not at each try.
UPDATE schedule
   SET error_since = COALESCE(error_since, UTC_TIMESTAMP(6)), error = :error
 WHERE schedule_id = :schedule_id AND version = :version AND next_run = :next_run
   AND (error IS NULL OR error <> :error);
