-- For daemon/queue/server/rehearsal.cc, in a transaction that is rolled back: a task of a queue
-- that does not exist, in its second attempt; and an UPDATE that changes nothing, to see that a
-- matched row counts.
INSERT INTO task (queue_id, partition_no, prio, run_key, first_key, type, payload)
VALUES (:queue_id, :partition_no, 1, :run_key, :first_key, 'rehearsal', '');
INSERT INTO task_moved (queue_id, partition_no, prio, first_key, run_key)
VALUES (:queue_id, :partition_no, 1, :first_key, :run_key);
UPDATE task_moved
   SET run_key = run_key
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = 1 AND first_key = :first_key;
