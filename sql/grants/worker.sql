-- The daemon: workers, settlers and the steward. Workers end former connections of their own and of
-- workers that died, which the server lets every account do.
CREATE USER 'allot_worker'@'%' IDENTIFIED BY 'change-me';
GRANT SELECT ON allot.allot_schema TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.queue TO 'allot_worker'@'%';
GRANT SELECT ON allot.queue_pause TO 'allot_worker'@'%';
GRANT SELECT ON allot.route TO 'allot_worker'@'%';
GRANT SELECT ON allot.queue_rate TO 'allot_worker'@'%';
GRANT SELECT, UPDATE ON allot.queue_bucket TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.q_lock_table TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task_running TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task_moved TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.deferred_type TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task_attempt TO 'allot_worker'@'%';
GRANT SELECT, DELETE ON allot.task_cancel TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task_dead TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task_unique TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.task_history TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.queue_duty TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.schedule TO 'allot_worker'@'%';
GRANT SELECT, INSERT, DELETE ON allot.schedule_tick TO 'allot_worker'@'%';
GRANT SELECT, INSERT, DELETE ON allot.notice TO 'allot_worker'@'%';
GRANT SELECT, UPDATE ON allot.named_lock TO 'allot_worker'@'%';
GRANT SELECT, DELETE ON allot.lock_ticket TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.server_identity TO 'allot_worker'@'%';
GRANT SELECT, UPDATE, DELETE ON allot.bulk_action TO 'allot_worker'@'%';
GRANT SELECT, INSERT, DELETE ON allot.finding TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.audit TO 'allot_worker'@'%';   -- INSERT, UPDATE only for [schedules]
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.instance TO 'allot_worker'@'%';
GRANT SELECT, INSERT, DELETE ON allot.attempt_minute TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.queue_minute TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.type_hour TO 'allot_worker'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.host_snapshot TO 'allot_worker'@'%';
GRANT SELECT, INSERT, DELETE ON allot.deployment TO 'allot_worker'@'%';
GRANT SELECT ON allot.fireworq_queue TO 'allot_worker'@'%';
GRANT SELECT, DELETE ON allot.fireworq_job TO 'allot_worker'@'%';
GRANT EXECUTE ON allot.* TO 'allot_worker'@'%';   -- only to see whether the procedures work
