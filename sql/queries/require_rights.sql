-- Changes nothing and takes no lock, but is refused if the account lacks a right that a worker
-- needs later: to find a task, to write its verdict, or to recover from a death.
UPDATE q_lock_table SET state = state WHERE FALSE;
UPDATE queue SET superseded_by = superseded_by WHERE FALSE;
SELECT queue_id FROM queue_pause WHERE FALSE;
SELECT queue_id FROM route WHERE FALSE;
SELECT queue_id FROM queue_rate WHERE FALSE;
UPDATE queue_bucket SET granted = granted WHERE FALSE;
UPDATE task SET attempt = attempt WHERE FALSE;
DELETE FROM task WHERE FALSE AND prio = 0;
INSERT INTO task SELECT * FROM task WHERE FALSE;
INSERT INTO task_running SELECT * FROM task_running WHERE FALSE;
UPDATE task_running SET epoch = epoch WHERE FALSE;
DELETE FROM task_running WHERE FALSE AND prio = 0;
INSERT INTO task_moved SELECT * FROM task_moved WHERE FALSE
    ON DUPLICATE KEY UPDATE run_key = VALUES(run_key);
DELETE FROM task_moved WHERE FALSE AND prio = 0;
INSERT INTO deferred_type SELECT * FROM deferred_type WHERE FALSE
    ON DUPLICATE KEY UPDATE to_key = VALUES(to_key);
DELETE FROM deferred_type WHERE FALSE AND prio = 0;
INSERT INTO task_attempt SELECT * FROM task_attempt WHERE FALSE
    ON DUPLICATE KEY UPDATE cause = VALUES(cause);
DELETE FROM task_attempt WHERE FALSE AND prio = 0;
INSERT INTO task_history SELECT * FROM task_history WHERE FALSE
    ON DUPLICATE KEY UPDATE ended_at = VALUES(ended_at);
DELETE FROM task_history WHERE FALSE AND prio = 0;
INSERT INTO task_unique SELECT * FROM task_unique WHERE FALSE;
DELETE FROM task_unique WHERE FALSE AND queue_id = 0;
DELETE FROM task_dead WHERE FALSE AND prio = 0;
INSERT INTO queue_duty SELECT * FROM queue_duty WHERE FALSE;
UPDATE queue_duty SET free_at = free_at WHERE FALSE;
UPDATE task_unique SET free_at = free_at WHERE FALSE;
SELECT queue_id FROM task_cancel WHERE FALSE;
DELETE FROM task_cancel WHERE FALSE AND prio = 0;
INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, cause,
                       error, died_at)
SELECT queue_id, partition_no, prio, run_key, attempt, type, payload, '', '', UTC_TIMESTAMP(6)
  FROM task WHERE FALSE
    ON DUPLICATE KEY UPDATE cause = VALUES(cause);
INSERT INTO schedule SELECT * FROM schedule WHERE FALSE;
UPDATE schedule SET version = version WHERE FALSE;
INSERT INTO schedule_tick SELECT * FROM schedule_tick WHERE FALSE;
DELETE FROM schedule_tick WHERE FALSE AND schedule_id = 0;
SELECT name FROM named_lock WHERE FALSE;
UPDATE named_lock SET state = state WHERE FALSE;
DELETE FROM lock_ticket WHERE FALSE AND ticket = 0;
INSERT INTO server_identity SELECT * FROM server_identity WHERE FALSE
    ON DUPLICATE KEY UPDATE term = VALUES(term);
INSERT INTO notice SELECT * FROM notice WHERE FALSE;
DELETE FROM notice WHERE FALSE AND kind = '';
SELECT action_id FROM bulk_action WHERE FALSE;
UPDATE bulk_action SET state = state WHERE FALSE;
DELETE FROM bulk_action WHERE FALSE AND action_id = 0;
INSERT INTO audit SELECT * FROM audit WHERE FALSE
    ON DUPLICATE KEY UPDATE tasks = VALUES(tasks);
DELETE FROM audit WHERE FALSE AND audit_id = 0;
INSERT INTO finding SELECT * FROM finding WHERE FALSE;
DELETE FROM finding WHERE FALSE AND row_no = 0;
INSERT INTO instance SELECT * FROM instance WHERE FALSE;
UPDATE instance SET seen_at = seen_at WHERE FALSE;
DELETE FROM instance WHERE FALSE AND origin = 0;
INSERT INTO attempt_minute SELECT * FROM attempt_minute WHERE FALSE;
DELETE FROM attempt_minute WHERE FALSE AND origin = 0;
INSERT INTO queue_minute SELECT * FROM queue_minute WHERE FALSE
    ON DUPLICATE KEY UPDATE backlog = VALUES(backlog);
DELETE FROM queue_minute WHERE FALSE AND queue_id = 0;
INSERT INTO type_hour SELECT * FROM type_hour WHERE FALSE
    ON DUPLICATE KEY UPDATE done = VALUES(done);
DELETE FROM type_hour WHERE FALSE AND queue = '';
INSERT INTO host_snapshot SELECT * FROM host_snapshot WHERE FALSE
    ON DUPLICATE KEY UPDATE taken_at = VALUES(taken_at);
DELETE FROM host_snapshot WHERE FALSE AND origin = 0;
INSERT INTO deployment SELECT * FROM deployment WHERE FALSE;
DELETE FROM deployment WHERE FALSE AND host = '';
SELECT queue_id FROM fireworq_queue WHERE FALSE;
SELECT job_id FROM fireworq_job WHERE FALSE;
DELETE FROM fireworq_job WHERE FALSE AND job_id = 0;
