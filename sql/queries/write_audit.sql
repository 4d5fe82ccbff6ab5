-- Entry of an operator's action, in the transaction of the action (S89). :found is one of
-- audit_*.sql: if it has no row there was nothing to change, and no entry is written. An action of
-- several transactions has one entry: :deed is its number, and with :adds its tasks are added up.
INSERT INTO audit (at, who, door, action, subject, name, queue, to_queue, tasks, detail, reason, deed)
SELECT UTC_TIMESTAMP(6), :who, :door, :action, :subject, :name, found.of_queue, found.into_queue,
       found.how_many, :detail, :reason, :deed
  FROM (:found) AS found
    ON DUPLICATE KEY UPDATE tasks = IF(:adds <> 0, audit.tasks + VALUES(tasks), audit.tasks);
