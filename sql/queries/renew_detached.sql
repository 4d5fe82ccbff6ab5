-- The progress of a detached task is written with its renewal, so that it costs no extra statement.
UPDATE task_running
   SET expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       progress = :progress, progress_text = :progress_text
 WHERE {my_detached};
