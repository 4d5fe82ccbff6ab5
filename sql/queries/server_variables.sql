-- Settings that doctor and [database] required check. SHOW, because a server may lack some of them.
SHOW GLOBAL VARIABLES
 WHERE Variable_name IN ('version', 'time_zone', 'read_only', 'log_bin', 'sync_binlog', 'wsrep_on',
                         'innodb_flush_log_at_trx_commit', 'innodb_doublewrite',
                         'max_allowed_packet', 'group_replication_group_name',
                         'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled',
                         'rpl_semi_sync_master_timeout', 'rpl_semi_sync_source_timeout',
                         'rpl_semi_sync_master_wait_no_slave', 'rpl_semi_sync_source_wait_no_replica');
