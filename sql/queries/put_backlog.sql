-- Records the number of tasks of each queue now, and the time of the read. :backlogs is a row for
-- each, UNION ALL SELECT ... If sent again, or by two hosts, the last one counts.
INSERT INTO queue_minute (minute_at, queue_id, backlog, estimated)
SELECT UTC_TIMESTAMP() - INTERVAL SECOND(UTC_TIMESTAMP()) SECOND, looked.queue_id, looked.backlog,
       looked.estimated
  FROM (SELECT 0 AS queue_id, 0 AS backlog, 0 AS estimated :backlogs) AS looked
    ON DUPLICATE KEY UPDATE backlog = VALUES(backlog), estimated = VALUES(estimated);
