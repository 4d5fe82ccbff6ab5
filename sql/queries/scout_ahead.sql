-- Poll of a waiting pool, before scout.sql and mostly in its place: the database's clock, whether
-- one of these queues has a rate, whether types are deferred there (S66), the microseconds until
-- the first task becomes due, among the heads of free partitions (NULL: none), and the number of
-- due heads. So a scout requests the rest only if there is any, and the next one runs when the task
-- is due (S77). The LIMIT keeps the derived table, so that each head is read once.
SELECT {unix UTC_TIMESTAMP(6)},
       EXISTS(SELECT 1 FROM queue_bucket WHERE queue_id IN (:queue_ids)),
       EXISTS(SELECT 1 FROM deferred_type WHERE queue_id IN (:queue_ids)),
       MIN(IF(GREATEST(heads.head_us, heads.defer_us) > heads.now_us,
              GREATEST(heads.head_us, heads.defer_us) - heads.now_us, NULL)),
       COALESCE(SUM(heads.head_us <= GREATEST(heads.now_us, :known_us)), 0)
  FROM (SELECT {now} AS now_us,
               COALESCE(TIMESTAMPDIFF(MICROSECOND, '2025-01-01', lease.defer_until), 0) AS defer_us,
               CAST(LEAST(COALESCE({head 1} >> 12, 4503599627370495),
                          COALESCE({head 0} >> 12, 4503599627370495),
                          COALESCE({head 2} >> 12, 4503599627370495),
                          COALESCE({head 3} >> 12, 4503599627370495)) AS SIGNED) AS head_us
          FROM q_lock_table AS lease
         WHERE lease.queue_id IN (:queue_ids) AND lease.state = 'FREE'
           AND (SELECT queue_id FROM queue_pause WHERE queue_id = lease.queue_id) IS NULL
           AND (lease.defer_until IS NULL OR lease.defer_until < '9000-01-01')
         LIMIT 18446744073709551615) AS heads;
