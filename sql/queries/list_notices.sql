SELECT kind, subject, DATE_FORMAT(raised_at, '%Y-%m-%dT%H:%i:%s.%fZ'), detail, task
  FROM notice
 ORDER BY kind, subject;
