-- For people: the instances that gave a sign of life in the last month, and how long ago it was, in
-- seconds.
SELECT host, instance, version, DATE_FORMAT(since, '%Y-%m-%dT%H:%i:%s.%fZ'),
       DATE_FORMAT(seen_at, '%Y-%m-%dT%H:%i:%s.%fZ'),
       GREATEST(0, TIMESTAMPDIFF(SECOND, seen_at, UTC_TIMESTAMP(6))), pools
  FROM instance
 ORDER BY host, instance, origin
 LIMIT :most;
