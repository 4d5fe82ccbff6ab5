-- Takes starts out of the fullest bucket of a rated queue, for the tasks at the head of a partition
-- that this holder leases, and reads how many it got (S43). Runs in one transaction with the
-- statements that leased the partition, or acknowledged and fetched. :running of the tasks at the
-- head have started before. :grant_id is new for each try, so that no result of an earlier try is
-- read. MariaDB passes other buckets on its way to the wanted one, and may keep a lock on one that
-- was locked when it passed. So the first statement, which waits, comes from below, and the next
-- ones, which have their bucket, come from above: a session that waits for a bucket holds only lower
-- ones, and no two transactions wait for each other.
UPDATE queue_bucket
   SET grant_id = :grant_id, granted = 0
 WHERE queue_id = :queue_id
   AND bucket_no = (SELECT bucket_no
                      FROM (SELECT bucket_no FROM queue_bucket WHERE queue_id = :queue_id
                             ORDER BY IF({too_far}, 0, next_free), bucket_no
                             LIMIT 1) AS fullest)
   AND (SELECT 1 FROM q_lock_table
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND lock_by = :holder AND state <> 'FREE') = 1
 LIMIT 1;
-- The time of a statement is its start. This one starts after the bucket is locked, so that the
-- time never goes back from one charge to the next. S44: a time further ahead than one grant
-- reaches counts as now, one further behind than the bucket holds counts as its limit.
UPDATE queue_bucket
   SET next_free = GREATEST(IF({too_far}, {now}, next_free), {now} - max_lag_us),
       charged_at = {now}
 WHERE queue_id = :queue_id AND grant_id = :grant_id
 ORDER BY bucket_no DESC
 LIMIT 1;
UPDATE queue_bucket
   SET granted = LEAST(
         :wanted, max_grant,
         GREATEST(0, (charged_at - next_free + interval_us) DIV interval_us),
         (SELECT GREATEST(COUNT(*), :running) - :running
            FROM (SELECT 1 FROM task
                   WHERE queue_id = :queue_id AND partition_no = :partition_no
                     AND prio IN (0, 1, 2, 3)
                     AND run_key <= GREATEST({last_due_key}, :highest_seen)
                   ORDER BY prio, run_key
                   LIMIT :wanted_and_running) AS head))
 WHERE queue_id = :queue_id AND grant_id = :grant_id
 ORDER BY bucket_no DESC
 LIMIT 1;
UPDATE queue_bucket
   SET next_free = next_free + granted * interval_us
 WHERE queue_id = :queue_id AND grant_id = :grant_id
 ORDER BY bucket_no DESC
 LIMIT 1;
SELECT SUM(IF(grant_id = :grant_id, granted, 0)),
       MAX(IF(grant_id = :grant_id, bucket_no, 0)),
       MAX(IF(grant_id = :grant_id, charged_at, 0)),
       MAX(max_grant),
       {next_start}
  FROM queue_bucket
 WHERE queue_id = :queue_id;
