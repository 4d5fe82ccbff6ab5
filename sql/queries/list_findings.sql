-- What the checks of the database found when the steward that leads looked last.
SELECT place, DATE_FORMAT(found_at, '%Y-%m-%dT%H:%i:%s.%fZ'), level, about, queue, text, fix
  FROM finding
 ORDER BY place
 LIMIT 1001;
