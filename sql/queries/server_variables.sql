-- The settings that doctor checks. SHOW, because a server does not have to know all of them.
SHOW GLOBAL VARIABLES
 WHERE Variable_name IN ('version', 'time_zone', 'read_only', 'log_bin', 'sync_binlog', 'wsrep_on',
                         'innodb_flush_log_at_trx_commit', 'innodb_doublewrite',
                         'max_allowed_packet');
