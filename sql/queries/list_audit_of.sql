-- Actions of operators on one subject. Columns as in list_audit.sql.
SELECT audit_id, DATE_FORMAT(at, '%Y-%m-%dT%H:%i:%s.%fZ'), actor, source, action, subject, name, queue,
       to_queue, tasks, detail, reason
  FROM audit
 WHERE subject = :subject AND name = :name AND audit_id < :before
 ORDER BY audit_id DESC
 LIMIT :limit;
