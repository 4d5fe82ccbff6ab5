-- Results of the last database checks of the leading steward.
SELECT place, DATE_FORMAT(found_at, '%Y-%m-%dT%H:%i:%s.%fZ'), level, about, queue, text, fix
  FROM finding
 ORDER BY place
 LIMIT 1001;
