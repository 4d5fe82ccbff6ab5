-- For people: what the slots of all hosts showed, and how long ago, in microseconds.
SELECT host, instance, DATE_FORMAT(taken_at, '%Y-%m-%dT%H:%i:%s.%fZ'),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, taken_at, UTC_TIMESTAMP(6))), state
  FROM host_snapshot
 ORDER BY host, instance, origin
 LIMIT :most;
