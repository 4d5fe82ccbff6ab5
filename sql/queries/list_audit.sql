-- For people: actions of operators, newest first, before a number. Columns as in list_audit_of.sql.
SELECT audit_id, DATE_FORMAT(at, '%Y-%m-%dT%H:%i:%s.%fZ'), actor, source, action, subject, name, queue,
       to_queue, tasks, detail, reason
  FROM audit
 WHERE audit_id < :before
 ORDER BY audit_id DESC
 LIMIT :limit;
