-- For people: slot states of all hosts, and their age in microseconds.
SELECT host, instance, DATE_FORMAT(taken_at, '%Y-%m-%dT%H:%i:%s.%fZ'),
       GREATEST(0, TIMESTAMPDIFF(MICROSECOND, taken_at, UTC_TIMESTAMP(6))), state
  FROM host_snapshot
 ORDER BY host, instance, origin
 LIMIT :limit;
