-- Rates of these queues: which have one, microseconds until a task may start, and how many may
-- start now. (S44: a time too far ahead counts as now.)
SELECT queue_id,
       {next_start},
       SUM(IF(next_free > {now},
              {too_far},
              (LEAST({now} - next_free, max_lag_us) + interval_us) DIV interval_us))
  FROM queue_bucket
 WHERE queue_id IN (:queue_ids)
 GROUP BY queue_id;
-- Like scout.sql, for rated queues; with :closed also for those in which no task may start now.
SELECT lease.queue_id, lease.partition_no
  FROM queue_pause AS pause
       STRAIGHT_JOIN q_lock_table AS lease
    ON lease.queue_id = pause.queue_id
 WHERE pause.queue_id IN (:queue_ids) AND pause.rated AND NOT pause.paused
   AND lease.state = 'FREE'
   AND (:closed
        OR (SELECT COUNT(*) FROM queue_bucket
             WHERE queue_id = pause.queue_id
               AND NOT {closed_bucket}) > 0)
   AND {waits_for_none}
   AND {has_due}
 ORDER BY lease.expire_at
 LIMIT 512;
