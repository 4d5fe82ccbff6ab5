-- The last ticks of a schedule, newest first.
SELECT tick_no, {unix tick},
       {unix at},
       queue_id, partition_no, prio, first_key, reason
  FROM schedule_tick
 WHERE schedule_id = :schedule_id
 ORDER BY tick_no DESC;
