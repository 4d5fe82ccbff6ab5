-- Counts of all instances by queue and type in the last :hours hours including the current one, in
-- steps of that many hours. Newest first.
SELECT DATE_FORMAT(DATE_ADD('2025-01-01', INTERVAL (TIMESTAMPDIFF(HOUR, '2025-01-01', hour_at) DIV :step * :step) HOUR),
                   '%Y-%m-%dT%H:%i:%sZ') AS at,
       queue, type,
       SUM(done), SUM(retried), SUM(dead), SUM(ran_0), SUM(ran_1), SUM(ran_2), SUM(ran_3), SUM(ran_4),
       SUM(ran_5), SUM(ran_6), SUM(ran_7), SUM(ran_8), SUM(ran_9), SUM(ran_10), SUM(ran_11),
       SUM(ran_12), SUM(ran_13), SUM(ran_14), SUM(ran_15), SUM(ran_16), SUM(ran_17), SUM(ran_18),
       SUM(ran_19), SUM(wait_0), SUM(wait_1), SUM(wait_2), SUM(wait_3), SUM(wait_4), SUM(wait_5),
       SUM(wait_6), SUM(wait_7), SUM(wait_8), SUM(wait_9), SUM(wait_10), SUM(wait_11), SUM(wait_12),
       SUM(wait_13), SUM(wait_14), SUM(wait_15), SUM(wait_16), SUM(wait_17), SUM(wait_18), SUM(wait_19)
  FROM type_hour
 WHERE hour_at > UTC_TIMESTAMP() - INTERVAL :hours HOUR
   AND (:queue = '' OR queue = :queue) AND (:type = '' OR type = :type)
 GROUP BY at, queue, type
 ORDER BY at DESC, queue, type
 LIMIT :limit;
