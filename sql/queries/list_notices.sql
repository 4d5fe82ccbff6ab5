SELECT kind, subject, {moment raised_at}, detail, task
  FROM notice
 ORDER BY kind, subject;
