-- For people: the instances that gave a sign of life in the last month, and how long ago it was, in
-- seconds.
SELECT host, instance, version, {moment since},
       {moment seen_at},
       GREATEST(0, TIMESTAMPDIFF(SECOND, seen_at, UTC_TIMESTAMP(6))), pools
  FROM instance
 ORDER BY host, instance, origin
 LIMIT :most;
