-- Counts of all instances by queue and type in the last :hours hours including the current one, in
-- steps of that many hours. Newest first.
SELECT DATE_FORMAT(DATE_ADD('2025-01-01', INTERVAL (TIMESTAMPDIFF(HOUR, '2025-01-01', hour_at) DIV :step * :step) HOUR),
                   '%Y-%m-%dT%H:%i:%sZ') AS at,
       queue, type,
       :sums
  FROM type_hour
 WHERE hour_at > UTC_TIMESTAMP() - INTERVAL :hours HOUR
   AND (:queue = '' OR queue = :queue) AND (:type = '' OR type = :type)
 GROUP BY at, queue, type
 ORDER BY at DESC, queue, type
 LIMIT :limit;
