-- A submitter: allot submit and the client library, to queues that exist. It can neither read nor
-- remove a task.
CREATE USER 'allot_submit'@'%' IDENTIFIED BY 'change-me';
GRANT SELECT ON allot.allot_schema TO 'allot_submit'@'%';
GRANT SELECT ON allot.queue TO 'allot_submit'@'%';
GRANT SELECT ON allot.server_identity TO 'allot_submit'@'%';   -- S52: the term of a server
GRANT SELECT ON allot.route TO 'allot_submit'@'%';
GRANT INSERT ON allot.task TO 'allot_submit'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.task_unique TO 'allot_submit'@'%';   -- for unique keys
