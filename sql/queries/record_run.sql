-- Records a task requested for now. :key is inserted_key.sql or reserved_key.sql; a reservation that is
-- not ours made no task.
UPDATE schedule
   SET last_key = :key, last_queue_id = :queue_id, last_partition_no = :partition_no,
       last_prio = :prio, last_run = :tick, ticks = ticks + 1, submitted = submitted + 1
 WHERE schedule_id = :schedule_id AND (:key) IS NOT NULL;
INSERT INTO schedule_tick
SELECT schedule_id, ticks, :tick, UTC_TIMESTAMP(6), last_queue_id, last_partition_no, last_prio,
       last_key, 'run now'
  FROM schedule
 WHERE schedule_id = :schedule_id AND last_run = :tick;
DELETE /*+ INDEX(schedule_tick PRIMARY) */ FROM schedule_tick
 WHERE schedule_id = :schedule_id
   AND tick_no <= (SELECT last.tick_no
                     FROM (SELECT tick_no FROM schedule_tick
                            WHERE schedule_id = :schedule_id
                            ORDER BY tick_no DESC LIMIT 1 OFFSET 20) AS last);
