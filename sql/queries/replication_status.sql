-- Number of replicas that confirm commits, and of nodes that have each commit, for [database] required.
SHOW GLOBAL STATUS
 WHERE Variable_name IN ('Rpl_semi_sync_master_clients', 'Rpl_semi_sync_source_clients',
                         'wsrep_cluster_size');
