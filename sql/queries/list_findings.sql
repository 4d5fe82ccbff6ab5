-- Results of the last database checks of the leading steward.
SELECT row_no, DATE_FORMAT(checked_at, '%Y-%m-%dT%H:%i:%s.%fZ'), level, check_name, queue, text, fix
  FROM finding
 ORDER BY row_no
 LIMIT 1001;
