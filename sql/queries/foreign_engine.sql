-- A table of Allot that uses a storage engine other than InnoDB, as far as this account sees it. An
-- application may have tables of any engine in the same database.
SELECT TABLE_NAME, ENGINE
  FROM information_schema.TABLES
 WHERE TABLE_SCHEMA = DATABASE() AND ENGINE <> 'InnoDB'
   AND TABLE_NAME IN ('allot_schema', 'attempt_minute', 'audit', 'bulk_action', 'deferred_type',
                      'deployment', 'fair_partition', 'finding', 'fireworq_job', 'fireworq_queue',
                      'fireworq_routing', 'host_snapshot', 'instance', 'lock_ticket', 'named_lock',
                      'notice', 'q_lock_table', 'queue', 'queue_bucket', 'queue_duty',
                      'queue_minute', 'queue_pause', 'queue_rate', 'route', 'schedule',
                      'schedule_tick', 'server_identity', 'task', 'task_attempt', 'task_cancel',
                      'task_dead', 'task_history', 'task_moved', 'task_running', 'task_unique',
                      'type_hour')
 ORDER BY TABLE_NAME
 LIMIT 1;
