-- Number of tasks of each queue at the last read of each step of that many minutes; the read itself
-- is a row without a queue.
SELECT DATE_FORMAT(DATE_ADD('2025-01-01', INTERVAL (TIMESTAMPDIFF(MINUTE, '2025-01-01', looks.last_at) DIV :step * :step) MINUTE),
                   '%Y-%m-%dT%H:%i:%sZ') AS at,
       queue.name, found.backlog, found.estimated
  FROM (SELECT MAX(minute_at) AS last_at
          FROM queue_minute
         WHERE queue_id = 0 AND minute_at >= UTC_TIMESTAMP() - INTERVAL :since_us MICROSECOND
         GROUP BY TIMESTAMPDIFF(MINUTE, '2025-01-01', minute_at) DIV :step) AS looks
  JOIN queue_minute AS found ON found.minute_at = looks.last_at
       AND found.minute_at >= UTC_TIMESTAMP() - INTERVAL :since_us MICROSECOND
  LEFT JOIN queue ON queue.queue_id = found.queue_id
 WHERE found.queue_id = 0 OR :queue = '' OR queue.name = :queue
 ORDER BY at DESC, found.queue_id
 LIMIT :limit;
