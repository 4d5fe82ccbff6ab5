-- Entry of an operator's action, in the transaction of the action (S89). :found is one of
-- audit_*.sql: if it has no row there was nothing to change, and no entry is written. An action of
-- several transactions has one entry: :operation_id is its number, and with :adds its tasks are added up.
INSERT INTO audit (at, actor, source, action, subject, name, queue, to_queue, tasks, detail, reason, operation_id)
SELECT UTC_TIMESTAMP(6), :actor, :source, :action, :subject, :name, found.of_queue, found.into_queue,
       found.how_many, :detail, :reason, :operation_id
  FROM (:found) AS found
    ON DUPLICATE KEY UPDATE tasks = IF(:adds <> 0, audit.tasks + VALUES(tasks), audit.tasks);
