-- Ends a tick, right after its task: advances to the next one, and records the outcome of this one.
-- :key is inserted_key.sql, reserved_key.sql, or NULL for a dropped tick; NULL means that no task
-- was made. A resumed_at later than the clock comes from a clock that was ahead (S57). Ticks are
-- whole seconds, so last_run equals this tick only if it has a task.
UPDATE schedule
   SET last_key = COALESCE(:key, last_key),
       last_run = IF((:key) IS NULL, last_run, :tick),
       last_queue_id = IF((:key) IS NULL, last_queue_id, :queue_id),
       last_partition_no = IF((:key) IS NULL, last_partition_no, :partition_no),
       last_prio = IF((:key) IS NULL, last_prio, :prio),
       ticks = ticks + :dropped + :has_task,
       submitted = submitted + ((:key) IS NOT NULL),
       skipped = skipped + (:has_task AND (:key) IS NULL),
       dropped = dropped + :dropped,
       next_run = :next_run, due_at = :due_at,
       resumed_at = LEAST(resumed_at, UTC_TIMESTAMP(6)), error = NULL, error_since = NULL
 WHERE schedule_id = :schedule_id;
INSERT INTO schedule_tick
SELECT schedule_id, ticks, :tick, UTC_TIMESTAMP(6),
       IF(last_run = :tick, last_queue_id, NULL), IF(last_run = :tick, last_partition_no, NULL),
       IF(last_run = :tick, last_prio, NULL), IF(last_run = :tick, last_key, NULL),
       IF(last_run = :tick, NULL, :reason)
  FROM schedule
 WHERE schedule_id = :schedule_id;
DELETE /*+ INDEX(schedule_tick PRIMARY) */ FROM schedule_tick
 WHERE schedule_id = :schedule_id
   AND tick_no <= (SELECT last.tick_no
                     FROM (SELECT tick_no FROM schedule_tick
                            WHERE schedule_id = :schedule_id
                            ORDER BY tick_no DESC LIMIT 1 OFFSET 20) AS last);
