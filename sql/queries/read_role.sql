-- Facts by which a server is the writer of its data or not (S52): its two read-only switches, the
-- name of its group if it is configured for Group Replication, and the state of its node if it is a
-- Galera node. The statuses are a separate table, because MariaDB reads a global variable as 0 next
-- to them.
SELECT @@global.read_only, @@global.innodb_read_only,
       /*M!100600 NULL */
       /*!80000 (SELECT VARIABLE_VALUE FROM performance_schema.session_variables
                  WHERE VARIABLE_NAME = 'group_replication_group_name') */ AS group_name,
       wsrep.*
  FROM (SELECT MAX(IF(VARIABLE_NAME = 'wsrep_provider_name', VARIABLE_VALUE, NULL)) AS galera,
               MAX(IF(VARIABLE_NAME = 'wsrep_cluster_status', VARIABLE_VALUE, NULL)) AS component,
               MAX(IF(VARIABLE_NAME = 'wsrep_local_state_comment', VARIABLE_VALUE, NULL)) AS state,
               MAX(IF(VARIABLE_NAME = 'wsrep_gcomm_uuid', VARIABLE_VALUE, NULL)) AS node
          FROM /*M!100600 information_schema.GLOBAL_STATUS */ /*!80000 performance_schema.global_status */
         WHERE VARIABLE_NAME IN ('wsrep_provider_name', 'wsrep_cluster_status', 'wsrep_local_state_comment',
                                 'wsrep_gcomm_uuid')) AS wsrep;
