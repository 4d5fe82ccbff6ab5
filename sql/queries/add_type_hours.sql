-- Runs with write_minute.sql: adds the counts since the last write to this hour. :hours is a SELECT
-- for each pair of queue and type, joined by UNION ALL, in the order of the key; :added adds up each
-- of the :columns.
INSERT INTO type_hour (hour_at, queue, type, :columns)
SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:00:00'), hours.*
  FROM (:hours) AS hours
    ON DUPLICATE KEY UPDATE :added;
