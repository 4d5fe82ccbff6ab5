-- For people: instances with a heartbeat in the last month, and its age in seconds.
SELECT host, instance, version, {moment since},
       {moment seen_at},
       GREATEST(0, TIMESTAMPDIFF(SECOND, seen_at, UTC_TIMESTAMP(6))), pools
  FROM instance
 ORDER BY host, instance, origin
 LIMIT :limit;
