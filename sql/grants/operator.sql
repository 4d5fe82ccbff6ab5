-- An operator: a reader who may also pause, resize, move, cancel, retry, discard and schedule.
CREATE USER 'allot_operator'@'%' IDENTIFIED BY 'change-me';
GRANT SELECT ON allot.* TO 'allot_operator'@'%';
GRANT UPDATE ON allot.queue TO 'allot_operator'@'%';
GRANT INSERT, UPDATE, DELETE ON allot.route TO 'allot_operator'@'%';
GRANT INSERT, UPDATE, DELETE ON allot.queue_pause TO 'allot_operator'@'%';
GRANT INSERT, UPDATE, DELETE ON allot.queue_rate TO 'allot_operator'@'%';
GRANT INSERT, DELETE ON allot.queue_bucket TO 'allot_operator'@'%';
GRANT INSERT, UPDATE ON allot.q_lock_table TO 'allot_operator'@'%';
GRANT INSERT, DELETE ON allot.task TO 'allot_operator'@'%';
GRANT INSERT, UPDATE, DELETE ON allot.task_moved TO 'allot_operator'@'%';
GRANT UPDATE, DELETE ON allot.task_attempt TO 'allot_operator'@'%';
GRANT INSERT, DELETE ON allot.task_dead TO 'allot_operator'@'%';
GRANT INSERT, UPDATE ON allot.task_history TO 'allot_operator'@'%';         -- only for task cancel --as-done
GRANT INSERT, UPDATE ON allot.task_unique TO 'allot_operator'@'%';          -- INSERT only for schedule run-now
GRANT UPDATE ON allot.task_running TO 'allot_operator'@'%';                -- only to lock it
GRANT INSERT, UPDATE, DELETE ON allot.task_cancel TO 'allot_operator'@'%';
GRANT INSERT, UPDATE, DELETE ON allot.schedule TO 'allot_operator'@'%';
GRANT INSERT, DELETE ON allot.schedule_tick TO 'allot_operator'@'%';
GRANT INSERT, UPDATE ON allot.named_lock TO 'allot_operator'@'%';
GRANT INSERT, UPDATE ON allot.bulk_action TO 'allot_operator'@'%';
GRANT INSERT, UPDATE ON allot.audit TO 'allot_operator'@'%';
GRANT UPDATE ON allot.queue_duty TO 'allot_operator'@'%';                  -- only to say that a page is looked at
