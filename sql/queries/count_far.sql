-- For one class of a partition: number of tasks due later than :after_us from now, up to :limit.
SELECT COUNT(*)
  FROM (SELECT 1 FROM task FORCE INDEX (PRIMARY)
         WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
           AND run_key > TIMESTAMPDIFF(MICROSECOND, '2025-01-01',
                           UTC_TIMESTAMP(6) + INTERVAL :after_us MICROSECOND) << 12
         LIMIT :limit) AS far;
