-- Whether this server belongs to a group with several writers. SHOW, because MariaDB knows neither
-- variable and a worker may not read the members of the group.
SHOW GLOBAL VARIABLES
 WHERE Variable_name IN ('group_replication_group_name', 'group_replication_single_primary_mode');
