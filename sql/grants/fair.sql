-- A submitter to fair queues too, which gives their keys partitions. It cannot read the type or the
-- payload of a task.
CREATE USER 'allot_fair'@'%' IDENTIFIED BY 'change-me';
GRANT SELECT ON allot.allot_schema TO 'allot_fair'@'%';
GRANT SELECT ON allot.queue TO 'allot_fair'@'%';
GRANT SELECT ON allot.server_identity TO 'allot_fair'@'%';
GRANT SELECT ON allot.route TO 'allot_fair'@'%';
GRANT INSERT, SELECT (queue_id, partition_no) ON allot.task TO 'allot_fair'@'%';
GRANT SELECT (queue_id, partition_no) ON allot.q_lock_table TO 'allot_fair'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.fair_partition TO 'allot_fair'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.task_unique TO 'allot_fair'@'%';
